// Extended headers of POSIX tar files: records `LENGTH KEY=VALUE\n`. Pure.
import { TarError } from './tar-entry.ts';

/** Linux allows 64 KiB of names and values of attributes per file; a path has at most 4 KiB. */
export const maxPaxBytes = 256 * 1024;
/** Digits of a length, with the space after it. */
const maxLengthText = 8;

/** Keys are latin1 strings; a later record replaces an earlier one. */
export function paxRecords(content: Buffer): ReadonlyMap<string, Buffer> {
  const records = new Map<string, Buffer>();
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const digits = content.toString('latin1', at, Math.min(space, at + maxLengthText));
    const length = Number(digits);
    const end = at + length;
    const isLength = space > at && /^[1-9]\d*$/.test(digits);
    if (!isLength || end > content.length || content[end - 1] !== 0x0a)
      throw new TarError('an extended header has a record of a wrong length');
    const equals = content.indexOf(0x3d, space);
    if (equals < 0 || equals >= end || equals === space + 1)
      throw new TarError('an extended header has a record without a key');
    records.set(
      content.toString('latin1', space + 1, equals),
      content.subarray(equals + 1, end - 1),
    );
    at = end;
  }
  return records;
}
