// Names by which a layer removes what lower layers have. Pure.
import { UnpackError } from './unpack-error.ts';

export type Whiteout =
  /** The directory hides all that lower layers have in it. */
  | { readonly kind: 'opaque'; readonly directory: string }
  | { readonly kind: 'removed'; readonly path: string }
  /** Of AUFS itself: `.wh..wh.plnk` and the like. */
  | { readonly kind: 'ignored' };

const prefix = '.wh.';
const opaqueName = '.wh..wh..opq';

/** Undefined for other names. Throws UnpackError for what names no entry of a directory. */
export function whiteoutOf(path: string): Whiteout | undefined {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  const above = names.slice(0, -1);
  if (above.some((name) => name.startsWith(prefix)))
    throw new UnpackError('invalid', 'an entry is below a whiteout');
  const name = names.at(-1) ?? '';
  if (!name.startsWith(prefix)) return undefined;
  if (name === opaqueName) return { kind: 'opaque', directory: above.join('/') };
  if (name.startsWith(prefix + prefix)) return { kind: 'ignored' };
  const removed = name.slice(prefix.length);
  if (['', '.', '..'].includes(removed))
    throw new UnpackError('invalid', `the whiteout ${JSON.stringify(name)} names no entry`);
  return { kind: 'removed', path: [...above, removed].join('/') };
}
