// Many clients that list the same collection at the same revision get the same bytes: as long as one of them is still
// being sent, the others need neither work nor memory of their own.
import type { EncodedBody } from './body.ts';

export type ListIdentity = {
  /** Where the objects come from and how they are viewed. */
  readonly resource: object;
  /** Everything else that decides about the bytes: the part of the collection, the revision, the representation. */
  readonly key: string;
};

export type SharedLists = (identity: ListIdentity, encode: () => EncodedBody) => EncodedBody;

/** Fewer bytes are copied faster than remembered. */
const leastBytes = 64 * 1024;

export function createSharedLists(): SharedLists {
  /** The last of each resource: what is read over and over is one and the same list. */
  const last = new WeakMap<object, { key: string; contentType: string; body: WeakRef<Buffer> }>();
  return ({ resource, key }, encode) => {
    const known = last.get(resource);
    const body = known?.key === key ? known.body.deref() : undefined;
    if (known !== undefined && body !== undefined) return { contentType: known.contentType, body };
    const made = encode();
    if (made.body.length >= leastBytes) {
      last.set(resource, { key, contentType: made.contentType, body: new WeakRef(made.body) });
    }
    return made;
  };
}
