// The iptables mode, as the runner knows modes.
import type { Mode } from '../mode.ts';
import { startIptables } from './apply.ts';
import { removeRules } from './apply-cleanup.ts';
import { probeIptables } from './probe.ts';
import { readSettings } from './settings.ts';
import { tracePacket } from './trace-packet.ts';
import { traits } from './traits.ts';

export const iptables: Mode = {
  name: 'iptables',
  probe: (family) => probeIptables(family),
  readSettings,
  start: startIptables,
  cleanup: (family) => removeRules(family),
  tracePacket,
  traits,
};
