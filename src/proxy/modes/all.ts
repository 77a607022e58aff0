// The modes there are, the best first: the order in which they are tried when none is asked for.
import { iptables } from './iptables/mode.ts';
import { ipvs } from './ipvs/mode.ts';
import type { Mode } from './mode.ts';
import { nftables } from './nftables/mode.ts';
import { userspaceOver } from './userspace/mode.ts';

export const allModes: readonly Mode[] = [
  nftables,
  iptables,
  ipvs,
  userspaceOver([nftables, iptables]),
];
