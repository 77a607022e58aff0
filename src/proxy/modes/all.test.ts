// Modes that are made of others, over the real ones.
import { iptables } from './iptables/mode.ts';
import { runModeContract } from './mode.contract.ts';
import { nftables } from './nftables/mode.ts';
import { userspaceOver } from './userspace/mode.ts';

for (const carrier of [nftables, iptables]) {
  const { name, ...mode } = userspaceOver([carrier]);
  // SCTP is not relayed: the carrier sends it on, and keeps the client's address where userspace cannot.
  runModeContract({ name, ...mode }, { protocols: ['TCP', 'UDP'], states: 40 });
}
