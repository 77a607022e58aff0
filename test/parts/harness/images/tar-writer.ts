// Writes tar files entry by entry, well-formed or as an attacker would.

export type TarEntry = {
  readonly name: string;
  readonly type?: keyof typeof typeFlags;
  readonly content?: string | Buffer;
  /** Of links. */
  readonly target?: string;
  readonly mode?: number;
  readonly uid?: number;
  readonly gid?: number;
  /** Seconds. */
  readonly mtime?: number;
  readonly device?: readonly [major: number, minor: number];
  /** Records of an extended header before it. */
  readonly pax?: Readonly<Record<string, string | Buffer>>;
  /** Written instead of the length of the content. */
  readonly size?: number;
};

const typeFlags = {
  file: '0',
  link: '1',
  symlink: '2',
  character: '3',
  block: '4',
  directory: '5',
  fifo: '6',
  sparse: 'S',
  pax: 'x',
  global: 'g',
  longName: 'L',
  longTarget: 'K',
} as const;

const blockBytes = 512;
const maxName = 100;

export function tarOf(entries: readonly TarEntry[]): Buffer {
  return Buffer.concat([...entries.flatMap(blocksOf), Buffer.alloc(2 * blockBytes)]);
}

function blocksOf(entry: TarEntry): Buffer[] {
  const { name, target = '', pax } = entry;
  const content = Buffer.from(entry.content ?? '');
  const blocks: Buffer[] = [];
  if (pax !== undefined)
    blocks.push(...blocksOf({ name: 'pax', type: 'pax', content: paxRecords(pax) }));
  // GNU's way for long names.
  if (Buffer.byteLength(name) > maxName)
    blocks.push(...blocksOf({ name: '@', type: 'longName', content: `${name}\0` }));
  if (Buffer.byteLength(target) > maxName)
    blocks.push(...blocksOf({ name: '@', type: 'longTarget', content: `${target}\0` }));
  return [...blocks, tarHeader(entry, content.length), padded(content)];
}

export function tarHeader(entry: TarEntry, length: number): Buffer {
  const { name, type = 'file', target = '', device = [0, 0] } = entry;
  const header = Buffer.alloc(blockBytes);
  header.write(name, 0, maxName);
  const octal = (value: number, at: number, width: number): void => {
    header.write(`${value.toString(8).padStart(width - 1, '0')}\0`, at);
  };
  octal(entry.mode ?? (type === 'directory' ? 0o755 : 0o644), 100, 8);
  octal(entry.uid ?? 0, 108, 8);
  octal(entry.gid ?? 0, 116, 8);
  octal(entry.size ?? length, 124, 12);
  octal(entry.mtime ?? 1_700_000_000, 136, 12);
  header.write(typeFlags[type], 156);
  header.write(target, 157, maxName);
  header.write('ustar\x0000', 257);
  octal(device[0], 329, 8);
  octal(device[1], 337, 8);
  header.fill(' ', 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

function padded(content: Buffer): Buffer {
  const rest = content.length % blockBytes;
  return rest === 0 ? content : Buffer.concat([content, Buffer.alloc(blockBytes - rest)]);
}

export function paxRecords(records: Readonly<Record<string, string | Buffer>>): Buffer {
  return Buffer.concat(
    Object.entries(records).map(([key, value]) => {
      const body = Buffer.concat([Buffer.from(` ${key}=`), Buffer.from(value), Buffer.from('\n')]);
      let length = body.length + 1;
      while (String(length).length + body.length !== length)
        length = String(length).length + body.length;
      return Buffer.concat([Buffer.from(String(length)), body]);
    }),
  );
}
