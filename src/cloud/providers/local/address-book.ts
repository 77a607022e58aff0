// Which Service has which address: published in its status, or allocated and not published yet.
import type { Holder } from './desired.ts';
import type { AddressRequest } from './read-request.ts';

type Entry = {
  readonly request: AddressRequest;
  /** The addresses in the Service's status. */
  readonly published: readonly string[];
  /** The addresses allocated here, until they are released, whatever the status says meanwhile. */
  readonly allocated: readonly string[];
};

export type AddressBook = {
  /** Records the current Service. */
  readonly publish: (request: AddressRequest, addresses: readonly string[]) => void;
  readonly give: (request: AddressRequest, addresses: readonly string[]) => void;
  readonly takeBack: (uid: string) => void;
  /** The Service was deleted: its addresses are free. */
  readonly remove: (uid: string) => void;
  readonly heldBy: (uid: string) => readonly string[];
  readonly othersAt: (address: string, uid: string) => readonly Holder[];
  readonly addressesOf: (sharingKey: string) => Iterable<string>;
  /** All addresses in use. */
  readonly taken: () => Iterable<string>;
};

/** `onRelease` is called whenever an address has one holder less. */
export function createAddressBook(onRelease: () => void = () => {}): AddressBook {
  const entries = new Map<string, Entry>();
  const holders = new Map<string, Set<string>>();
  const sharers = new Map<string, Set<string>>();

  const change = (uid: string, after: Entry | undefined): void => {
    const before = entries.get(uid);
    const [had, has] = [addressesIn(before), addressesIn(after)];
    for (const address of had) unfile(holders, address, uid);
    unfile(sharers, before?.request.sharing.sharingKey ?? '', uid);
    if (after === undefined || has.length === 0) entries.delete(uid);
    else {
      entries.set(uid, after);
      for (const address of has) file(holders, address, uid);
      file(sharers, after.request.sharing.sharingKey, uid);
    }
    if (had.some((address) => !has.includes(address))) onRelease();
  };
  return {
    publish(request, published) {
      change(request.uid, {
        request,
        published,
        allocated: entries.get(request.uid)?.allocated ?? [],
      });
    },
    give(request, allocated) {
      change(request.uid, {
        request,
        allocated,
        published: entries.get(request.uid)?.published ?? [],
      });
    },
    takeBack(uid) {
      const entry = entries.get(uid);
      if (entry !== undefined) change(uid, { ...entry, allocated: [] });
    },
    remove: (uid) => change(uid, undefined),
    heldBy: (uid) => addressesIn(entries.get(uid)),
    othersAt(address, uid) {
      const others = [...(holders.get(address) ?? [])].filter((one) => one !== uid);
      return others.flatMap((one) => {
        const entry = entries.get(one);
        return entry === undefined
          ? []
          : [{ key: entry.request.key, sharing: entry.request.sharing }];
      });
    },
    *addressesOf(sharingKey) {
      for (const uid of sharers.get(sharingKey) ?? []) yield* addressesIn(entries.get(uid));
    },
    taken: () => holders.keys(),
  };
}

/** Allocated addresses take precedence: they are newer than the published ones. */
function addressesIn(entry: Entry | undefined): readonly string[] {
  return entry === undefined ? [] : [...new Set([...entry.allocated, ...entry.published])];
}

function file(index: Map<string, Set<string>>, word: string, uid: string): void {
  const filed = index.get(word);
  if (filed === undefined) index.set(word, new Set([uid]));
  else filed.add(uid);
}

function unfile(index: Map<string, Set<string>>, word: string, uid: string): void {
  const filed = index.get(word);
  filed?.delete(uid);
  if (filed?.size === 0) index.delete(word);
}
