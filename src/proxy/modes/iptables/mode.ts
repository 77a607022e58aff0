// Virtual addresses by rules of iptables, in kube-proxy's chains.
import type { Mode } from '../mode.ts';
import { startIptables } from './apply.ts';
import { removeRules } from './apply-cleanup.ts';
import { description } from './description.ts';
import { probeIptables } from './probe.ts';
import { readDrift } from './read-drift.ts';
import { tracePacket } from './trace-packet.ts';
import { traits } from './traits.ts';

export const iptables: Mode = {
  ...description,
  probe: (family) => probeIptables(family),
  start: startIptables,
  cleanup: (family) => removeRules(family),
  tracePacket,
  readDrift,
  traits,
};
