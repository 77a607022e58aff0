// The starter: a program of a few hundred bytes that carries out a list of system calls and then becomes a container. It needs no shell, no
// compiler and no program of the machine: the list is assembled here (assemble.ts), the code that interprets it is written out below.
//
// Each entry of the list has eleven words of eight bytes:
//   0 number of the call; -1: subtract, u32 at [1] - u32 at [2] + [3]
//   1..6 its arguments
//   7 where the result is written; 0: nowhere
//   8, 9, 10 the entry that follows when the result is zero, positive, negative; 0 for negative: fatal
// What is fatal is written to the report (address of the entry, result), and the list goes on at the entry for fatal errors.
export const entryWords = 11;
export const subtractNumber = -1;

/** Supported architectures, by Node's names. */
export type Architecture = 'x64' | 'arm64';

/** Both are below 2 GiB, so that 32 bits hold an address. */
const codeAddress = 0x400000;
export const dataAddress = 0x1000_0000;
/** The largest page size: segments start at a multiple of it. */
const pageBytes = 0x10000;

export type StarterData = {
  /** From `dataAddress` on. */
  readonly bytes: Uint8Array;
  readonly firstEntry: number;
  readonly fatalEntry: number;
  /** Sixteen bytes. */
  readonly report: number;
};

/** A static ELF executable, as pairs of a position and bytes. */
export function starterFile(
  architecture: Architecture,
  data: StarterData,
): readonly (readonly [number, Uint8Array])[] {
  const code = architecture === 'x64' ? x64Code(data) : arm64Code(data);
  const machine = { x64: 62, arm64: 183 }[architecture];
  const headerBytes = 64 + 3 * 56;
  const header = Buffer.alloc(headerBytes);
  header.write('\x7fELF', 'latin1');
  // 64 bits, little-endian, version 1; then: executable, machine, version 1.
  header.set([2, 1, 1], 4);
  header.writeUInt16LE(2, 16);
  header.writeUInt16LE(machine, 18);
  header.writeUInt32LE(1, 20);
  header.writeBigUInt64LE(BigInt(codeAddress + headerBytes), 24);
  header.writeBigUInt64LE(64n, 32);
  header.writeUInt16LE(64, 52);
  header.writeUInt16LE(56, 54);
  header.writeUInt16LE(3, 56);
  header.writeUInt16LE(64, 58);
  const readExecute = 5;
  const readWrite = 6;
  segment(header, 64, {
    flags: readExecute,
    offset: 0,
    address: codeAddress,
    bytes: headerBytes + code.length,
  });
  segment(header, 120, {
    flags: readWrite,
    offset: pageBytes,
    address: dataAddress,
    bytes: data.bytes.length,
  });
  const stackType = 0x6474e551;
  header.writeUInt32LE(stackType, 176);
  header.writeUInt32LE(readWrite, 180);
  return [
    [0, header],
    [headerBytes, code],
    [pageBytes, data.bytes],
  ];
}

type Segment = {
  readonly flags: number;
  readonly offset: number;
  readonly address: number;
  readonly bytes: number;
};

function segment(header: Buffer, at: number, { flags, offset, address, bytes }: Segment): void {
  const loadType = 1;
  header.writeUInt32LE(loadType, at);
  header.writeUInt32LE(flags, at + 4);
  const words = [offset, address, address, bytes, bytes, pageBytes];
  for (const [index, word] of words.entries())
    header.writeBigUInt64LE(BigInt(word), at + 8 + index * 8);
}

/** Code, a label, or a jump to one: the opcode, followed by a distance of one or four bytes. */
type Piece =
  | readonly number[]
  | { readonly label: string }
  | { readonly jump: readonly number[]; readonly to: string; readonly isNear: boolean };

const word32 = (value: number): readonly number[] =>
  [0, 8, 16, 24].map((shift) => (value >>> shift) & 0xff);

function x64Code({ firstEntry, fatalEntry, report }: StarterData): Uint8Array {
  const near = (opcode: number, to: string): Piece => ({ jump: [opcode], to, isNear: true });
  const far = (to: string): Piece => ({ jump: [0xe9], to, isNear: false });
  return assembleX64([
    [0x41, 0xbc, ...word32(firstEntry)], // mov r12d, first entry
    { label: 'next' },
    [0x49, 0x8b, 0x04, 0x24], // mov rax, [r12]
    [0x49, 0x8b, 0x7c, 0x24, 0x08], // mov rdi, [r12+8]
    [0x49, 0x8b, 0x74, 0x24, 0x10], // mov rsi, [r12+16]
    [0x49, 0x8b, 0x54, 0x24, 0x18], // mov rdx, [r12+24]
    [0x4d, 0x8b, 0x54, 0x24, 0x20], // mov r10, [r12+32]
    [0x4d, 0x8b, 0x44, 0x24, 0x28], // mov r8, [r12+40]
    [0x4d, 0x8b, 0x4c, 0x24, 0x30], // mov r9, [r12+48]
    [0x48, 0x83, 0xf8, 0xff], // cmp rax, -1
    near(0x74, 'subtract'), // je
    [0x0f, 0x05], // syscall
    { label: 'result' },
    [0x49, 0x8b, 0x4c, 0x24, 0x38], // mov rcx, [r12+56]
    [0x48, 0x85, 0xc9], // test rcx, rcx
    near(0x74, 'stored'), // jz
    [0x48, 0x89, 0x01], // mov [rcx], rax
    { label: 'stored' },
    [0x48, 0x85, 0xc0], // test rax, rax
    near(0x78, 'negative'), // js
    near(0x74, 'zero'), // jz
    [0x4d, 0x8b, 0x64, 0x24, 0x48], // mov r12, [r12+72]
    far('next'),
    { label: 'zero' },
    [0x4d, 0x8b, 0x64, 0x24, 0x40], // mov r12, [r12+64]
    far('next'),
    { label: 'negative' },
    [0x49, 0x8b, 0x4c, 0x24, 0x50], // mov rcx, [r12+80]
    [0x48, 0x85, 0xc9], // test rcx, rcx
    near(0x74, 'fatal'), // jz
    [0x49, 0x89, 0xcc], // mov r12, rcx
    far('next'),
    { label: 'fatal' },
    [0x4c, 0x89, 0x24, 0x25, ...word32(report)], // mov [report], r12
    [0x48, 0x89, 0x04, 0x25, ...word32(report + 8)], // mov [report+8], rax
    [0x41, 0xbc, ...word32(fatalEntry)], // mov r12d, fatal entry
    far('next'),
    { label: 'subtract' },
    [0x8b, 0x07], // mov eax, [rdi]
    [0x8b, 0x0e], // mov ecx, [rsi]
    [0x48, 0x29, 0xc8], // sub rax, rcx
    [0x48, 0x01, 0xd0], // add rax, rdx
    far('result'),
  ]);
}

function assembleX64(pieces: readonly Piece[]): Uint8Array {
  const size = (piece: Piece): number => {
    if ('label' in piece) return 0;
    return 'jump' in piece ? piece.jump.length + (piece.isNear ? 1 : 4) : piece.length;
  };
  const offsets = new Map<string, number>();
  let at = 0;
  for (const piece of pieces) {
    if ('label' in piece) offsets.set(piece.label, at);
    at += size(piece);
  }
  const bytes: number[] = [];
  for (const piece of pieces) {
    if ('label' in piece) continue;
    if (!('jump' in piece)) bytes.push(...piece);
    else {
      const distance = (offsets.get(piece.to) ?? 0) - (bytes.length + size(piece));
      bytes.push(...piece.jump, ...word32(distance).slice(0, piece.isNear ? 1 : 4));
    }
  }
  return Uint8Array.from(bytes);
}

/** An instruction, a label, or an instruction with the distance to a label, encoded by `at`. */
type Instruction =
  | number
  | { readonly label: string }
  | { readonly to: string; readonly at: (distance: number) => number };

function arm64Code({ firstEntry, fatalEntry, report }: StarterData): Uint8Array {
  const load = (target: number, base: number, offset: number): number =>
    0xf9400000 | ((offset / 8) << 10) | (base << 5) | target;
  const loadPair = (target: number, offset: number): number =>
    0xa9400000 | ((offset / 8) << 15) | ((target + 1) << 10) | (19 << 5) | target;
  const address = (target: number, value: number): readonly number[] => [
    0xd2800000 | ((value & 0xffff) << 5) | target, // movz
    0xf2a00000 | ((value >>> 16) << 5) | target, // movk, shifted by 16
  ];
  const jump = (to: string): Instruction => ({
    to,
    at: (distance) => 0x14000000 | (distance & 0x3ffffff),
  });
  const jumpIfZero = (register: number, to: string): Instruction => ({
    to,
    at: (distance) => 0xb4000000 | ((distance & 0x7ffff) << 5) | register,
  });
  return assembleArm64([
    ...address(19, firstEntry), // x19: the entry
    { label: 'next' },
    load(8, 19, 0), // ldr x8, [x19]
    loadPair(0, 8), // ldp x0, x1, [x19, 8]
    loadPair(2, 24), // ldp x2, x3, [x19, 24]
    loadPair(4, 40), // ldp x4, x5, [x19, 40]
    0xb1000400 | (8 << 5) | 31, // cmn x8, 1
    { to: 'subtract', at: (distance) => 0x54000000 | ((distance & 0x7ffff) << 5) }, // b.eq
    0xd4000001, // svc 0
    { label: 'result' },
    load(9, 19, 56), // ldr x9, [x19, 56]
    jumpIfZero(9, 'stored'),
    0xf9000000 | (9 << 5), // str x0, [x9]
    { label: 'stored' },
    { to: 'negative', at: (distance) => 0xb7f80000 | ((distance & 0x3fff) << 5) }, // tbnz x0, 63
    jumpIfZero(0, 'zero'),
    load(19, 19, 72), // ldr x19, [x19, 72]
    jump('next'),
    { label: 'zero' },
    load(19, 19, 64), // ldr x19, [x19, 64]
    jump('next'),
    { label: 'negative' },
    load(9, 19, 80), // ldr x9, [x19, 80]
    jumpIfZero(9, 'fatal'),
    0xaa0903f3, // mov x19, x9
    jump('next'),
    { label: 'fatal' },
    ...address(9, report),
    0xa9000000 | (9 << 5) | 19, // stp x19, x0, [x9]
    ...address(19, fatalEntry),
    jump('next'),
    { label: 'subtract' },
    0xb9400000, // ldr w0, [x0]
    0xb9400021, // ldr w1, [x1]
    0xcb010000, // sub x0, x0, x1
    0x8b020000, // add x0, x0, x2
    jump('result'),
  ]);
}

function assembleArm64(instructions: readonly Instruction[]): Uint8Array {
  const offsets = new Map<string, number>();
  let at = 0;
  for (const one of instructions) {
    if (typeof one === 'object' && 'label' in one) offsets.set(one.label, at);
    else at += 1;
  }
  const words: number[] = [];
  for (const one of instructions) {
    if (typeof one === 'number') words.push(one);
    else if ('to' in one) words.push(one.at((offsets.get(one.to) ?? 0) - words.length));
  }
  const bytes = Buffer.alloc(words.length * 4);
  for (const [index, value] of words.entries()) bytes.writeUInt32LE(value >>> 0, index * 4);
  return bytes;
}
