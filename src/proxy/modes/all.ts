// The modes there are, in the order in which they are tried when none is requested.
import { description as iptablesDescription } from './iptables/description.ts';
import { description as ipvs } from './ipvs/description.ts';
import type { ListedMode, Mode } from './mode.ts';
import { description as nftablesDescription } from './nftables/description.ts';
import { description as userspace } from './userspace/description.ts';

const nftables = async () => (await import('./nftables/mode.ts')).nftables;
const iptables = async () => (await import('./iptables/mode.ts')).iptables;

export const allModes: readonly ListedMode[] = [
  { ...nftablesDescription, load: nftables },
  { ...iptablesDescription, load: iptables },
  { ...ipvs, load: async () => (await import('./ipvs/mode.ts')).ipvs },
  { ...userspace, load: loadUserspace },
];

export const loadAllModes = (): Promise<readonly Mode[]> =>
  Promise.all(allModes.map(({ load }) => load()));

/** Over the first of these that works: modes do not import each other. */
async function loadUserspace(): Promise<Mode> {
  const { userspaceOver } = await import('./userspace/mode.ts');
  return userspaceOver([await nftables(), await iptables()]);
}
