import { runModeContract } from '../mode.contract.ts';
import { tracePacket } from './trace-packet.ts';
import { traits } from './traits.ts';

runModeContract({ name: 'nftables', tracePacket, traits });
