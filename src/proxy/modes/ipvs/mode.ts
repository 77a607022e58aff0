// Virtual addresses by the kernel's own load balancer.
import type { Mode } from '../mode.ts';
import { startIpvs } from './apply.ts';
import { cleanUpIpvs } from './apply-cleanup.ts';
import { description } from './description.ts';
import { probeIpvs } from './probe.ts';
import { readDrift } from './read-drift.ts';
import { tracePacket } from './trace-packet.ts';
import { traits } from './traits.ts';

export const ipvs: Mode = {
  ...description,
  probe: (family) => probeIpvs(family),
  start: (options) => startIpvs(options),
  cleanup: (family) => cleanUpIpvs(family),
  tracePacket,
  readDrift,
  traits,
};
