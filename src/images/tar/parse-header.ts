// The header block of one entry of a tar file: ustar, GNU, and the old form. Pure.
import { TarError, type TarKind } from './tar-entry.ts';

export const blockBytes = 512;

/** What is not an entry itself, but says something about the next one, or about all. */
export type MetaKind = 'pax' | 'global' | 'longName' | 'longTarget';

export type RawHeader = {
  readonly kind: TarKind | MetaKind;
  /** From before POSIX, when a directory was a file whose name ends with a slash. */
  readonly isOld: boolean;
  readonly name: string;
  readonly target: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly mtime: number;
  readonly size: number;
  readonly device: { readonly major: number; readonly minor: number };
};

const kinds: Readonly<Record<string, TarKind | MetaKind>> = {
  '\0': 'file',
  '0': 'file',
  // Contiguous files of systems that had them.
  '7': 'file',
  '1': 'link',
  '2': 'symlink',
  '3': 'character',
  '4': 'block',
  '5': 'directory',
  '6': 'fifo',
  x: 'pax',
  g: 'global',
  L: 'longName',
  K: 'longTarget',
};

/** Undefined for a block of zeros, which ends the file. */
export function parseHeader(block: Buffer): RawHeader | undefined {
  if (block.every((byte) => byte === 0)) return undefined;
  checkSum(block);
  const flag = String.fromCharCode(block[156] ?? 0);
  const kind = kinds[flag];
  if (kind === undefined) {
    const why =
      flag === 'S'
        ? 'sparse files are not supported'
        : 'only files, links, directories, devices and FIFOs are supported';
    throw new TarError(`an entry has type ${JSON.stringify(flag)}: ${why}`);
  }
  const name = nameOf(block);
  const isDevice = kind === 'character' || kind === 'block';
  return {
    ...{ kind, name },
    isOld: flag === '\0',
    target: textAt(block, 157, 100),
    mode: numberAt(block, 100, 8) & 0o7777,
    uid: numberAt(block, 108, 8),
    gid: numberAt(block, 116, 8),
    size: hasContent(kind) ? numberAt(block, 124, 12) : 0,
    mtime: numberAt(block, 136, 12),
    device: isDevice
      ? { major: numberAt(block, 329, 8), minor: numberAt(block, 337, 8) }
      : { major: 0, minor: 0 },
  };
}

/** Others may have a size, for which nothing follows. */
const hasContent = (kind: TarKind | MetaKind): boolean =>
  !['link', 'symlink', 'character', 'block', 'directory', 'fifo'].includes(kind);

export const isMeta = (kind: TarKind | MetaKind): kind is MetaKind =>
  ['pax', 'global', 'longName', 'longTarget'].includes(kind);

function nameOf(block: Buffer): string {
  const name = textAt(block, 0, 100);
  const isUstar = block.toString('latin1', 257, 263) === 'ustar\0';
  const prefix = isUstar ? textAt(block, 345, 155) : '';
  return prefix === '' ? name : `${prefix}/${name}`;
}

function textAt(block: Buffer, at: number, length: number): string {
  const field = block.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString('latin1', 0, end < 0 ? length : end);
}

/** Octal digits, or, with the first bit set, a binary number. */
function numberAt(block: Buffer, at: number, length: number): number {
  const field = block.subarray(at, at + length);
  const first = field[0] ?? 0;
  if ((first & 0x80) !== 0) return binaryNumber(field);
  const text = field.toString('latin1').replaceAll('\0', ' ').trim();
  if (!/^[0-7]*$/.test(text)) throw new TarError('a header has a number that is not octal');
  return Number.parseInt(text === '' ? '0' : text, 8);
}

function binaryNumber(field: Buffer): number {
  let value = (field[0] ?? 0) & 0x7f;
  for (const byte of field.subarray(1)) value = value * 256 + byte;
  if (!Number.isSafeInteger(value)) throw new TarError('a header has a number out of range');
  return value;
}

/** The sum of all bytes, with spaces for the sum itself; old programs added signed bytes. */
function checkSum(block: Buffer): void {
  const stored = numberAt(block, 148, 8);
  let unsigned = 8 * 0x20;
  let signed = unsigned;
  for (let at = 0; at < blockBytes; at += 1) {
    if (at >= 148 && at < 156) continue;
    unsigned += block[at] ?? 0;
    signed += block.readInt8(at);
  }
  if (stored !== unsigned && stored !== signed)
    throw new TarError('a header has a wrong checksum: this is not a tar file, or it is damaged');
}
