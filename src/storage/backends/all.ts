// The engines, by the scheme of a store's address. To add one: its folder, and its line here.
import type { StoreClock } from '../expiry.ts';
import type { Store } from '../store.ts';
import { openEmbeddedStore } from './embedded/store.ts';
import { openEtcdStore } from './etcd/store.ts';
import { openMemoryStore } from './memory/store.ts';

/** Opens the store at an address of the engine's scheme. */
type OpenStore = (rest: string, clock: StoreClock) => Promise<Store>;

const engines: Readonly<Record<string, OpenStore>> = {
  embedded: (directory, clock) => openEmbeddedStore({ directory, ...clock }),
  etcd: (place, { now }) => openEtcdStore({ ...parsePlace(place), now }),
  memory: async (_, clock) => openMemoryStore(clock),
};

/** `http://one:2379,http://two:2379#/prefix`; members that want certificates are opened with `openEtcdStore`. */
function parsePlace(place: string) {
  const [members = '', prefix = defaultEtcdPrefix] = place.split('#', 2);
  return { endpoints: members.split(','), prefix };
}

export const defaultEtcdPrefix = '/fairlead';

export const storeSchemes: readonly string[] = Object.keys(engines);

/** `embedded:DIRECTORY`, `etcd:MEMBERS`, `memory:`; an address without a scheme is a directory. */
export async function openStore(address: string, clock: StoreClock): Promise<Store> {
  const [, scheme, rest = ''] = /^([a-z]{2,}):(.*)$/s.exec(address) ?? [];
  const open = engines[scheme ?? 'embedded'];
  if (open === undefined) {
    const known = storeSchemes.map((each) => `"${each}:"`).join(', ');
    throw new TypeError(`Cannot open store "${address}": its scheme must be one of ${known}`);
  }
  return open(scheme === undefined ? address : rest, clock);
}
