// Many clients that list the same collection at the same revision get the same bytes: as long as one of them is still
// being sent, the others need neither work nor memory of their own.
import type { EncodedBody } from './body.ts';

export type ListIdentity = {
  /** Where the objects come from and how they are viewed. */
  readonly resource: object;
  /** Everything else that decides about the bytes: the part of the collection, the revision, the representation. */
  readonly key: string;
};

export type SharedLists = (
  identity: ListIdentity,
  encode: () => Promise<EncodedBody>,
) => Promise<EncodedBody>;

type Known = {
  readonly key: string;
  readonly rest: Omit<EncodedBody, 'body'>;
  readonly body: WeakRef<Buffer>;
};

/** Fewer bytes are copied faster than remembered. */
const minBytes = 64 * 1024;

export function createSharedLists(): SharedLists {
  /** The last list of each resource: clients read the same list again and again. */
  const last = new WeakMap<object, Known>();
  /** Lists that are being encoded: requests for the same list wait for it. */
  const making = new WeakMap<object, { key: string; made: Promise<EncodedBody> }>();
  return async ({ resource, key }, encode) => {
    const known = last.get(resource);
    const body = known?.key === key ? known.body.deref() : undefined;
    if (known !== undefined && body !== undefined) return { ...known.rest, body };
    const current = making.get(resource);
    if (current?.key === key) return current.made;
    const entry = { key, made: encode() };
    making.set(resource, entry);
    try {
      const made = await entry.made;
      const { body: bytes, ...rest } = made;
      if (bytes.length >= minBytes) last.set(resource, { key, rest, body: new WeakRef(bytes) });
      return made;
    } finally {
      if (making.get(resource) === entry) making.delete(resource);
    }
  };
}
