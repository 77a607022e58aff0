import { runModeContract } from '../mode.contract.ts';
import { walk } from './trace-packet.ts';
import { traits } from './traits.ts';

runModeContract({ name: 'ipvs', walk, traits });
