// Virtual addresses by rules of nf_tables, in a table of our own.
import type { Mode } from '../mode.ts';
import { cleanUpNftables, startNftables } from './apply.ts';
import { description } from './description.ts';
import { probeNftables } from './probe.ts';
import { readDrift } from './read-contents.ts';
import { tracePacket } from './trace-packet.ts';
import { traits } from './traits.ts';

export const nftables: Mode = {
  ...description,
  probe: (family) => probeNftables(family),
  start: (options) => startNftables(options),
  cleanup: (family) => cleanUpNftables(family),
  tracePacket,
  readDrift,
  traits,
};
