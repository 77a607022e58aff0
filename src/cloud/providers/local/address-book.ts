// Who has which address: what Services publish, and what was given away and is not published yet.
import type { Holder } from './desired.ts';
import type { AddressRequest } from './read-request.ts';

type Entry = {
  readonly wish: AddressRequest;
  /** As the Service's status says. */
  readonly published: readonly string[];
  /** As was decided here; it holds until it is taken back, whatever the status says meanwhile. */
  readonly given: readonly string[];
};

export type AddressBook = {
  /** The Service as it stands in the API now. */
  readonly publish: (wish: AddressRequest, addresses: readonly string[]) => void;
  readonly give: (wish: AddressRequest, addresses: readonly string[]) => void;
  readonly takeBack: (uid: string) => void;
  /** The Service is gone from the API, and all that it had is free. */
  readonly remove: (uid: string) => void;
  readonly heldBy: (uid: string) => readonly string[];
  readonly othersAt: (address: string, uid: string) => readonly Holder[];
  readonly addressesOf: (sharingKey: string) => Iterable<string>;
  /** Every address that somebody has. */
  readonly taken: () => Iterable<string>;
};

/** `relieved` is called whenever an address has one holder less. */
export function createAddressBook(relieved: () => void = () => {}): AddressBook {
  const entries = new Map<string, Entry>();
  const holders = new Map<string, Set<string>>();
  const sharers = new Map<string, Set<string>>();

  const change = (uid: string, after: Entry | undefined): void => {
    const before = entries.get(uid);
    const [had, has] = [addressesIn(before), addressesIn(after)];
    for (const address of had) unfile(holders, address, uid);
    unfile(sharers, before?.wish.sharing.sharingKey ?? '', uid);
    if (after === undefined || has.length === 0) entries.delete(uid);
    else {
      entries.set(uid, after);
      for (const address of has) file(holders, address, uid);
      file(sharers, after.wish.sharing.sharingKey, uid);
    }
    if (had.some((address) => !has.includes(address))) relieved();
  };
  return {
    publish(wish, published) {
      change(wish.uid, { wish, published, given: entries.get(wish.uid)?.given ?? [] });
    },
    give(wish, given) {
      change(wish.uid, { wish, given, published: entries.get(wish.uid)?.published ?? [] });
    },
    takeBack(uid) {
      const entry = entries.get(uid);
      if (entry !== undefined) change(uid, { ...entry, given: [] });
    },
    remove: (uid) => change(uid, undefined),
    heldBy: (uid) => addressesIn(entries.get(uid)),
    othersAt(address, uid) {
      const others = [...(holders.get(address) ?? [])].filter((one) => one !== uid);
      return others.flatMap((one) => {
        const entry = entries.get(one);
        return entry === undefined ? [] : [{ key: entry.wish.key, sharing: entry.wish.sharing }];
      });
    },
    *addressesOf(sharingKey) {
      for (const uid of sharers.get(sharingKey) ?? []) yield* addressesIn(entries.get(uid));
    },
    taken: () => holders.keys(),
  };
}

/** What was given comes first: it is newer than what is published. */
function addressesIn(entry: Entry | undefined): readonly string[] {
  return entry === undefined ? [] : [...new Set([...entry.given, ...entry.published])];
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
