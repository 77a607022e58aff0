// Assembles steps with labels into the list of system calls that the starter carries out (machine-code.ts).
import {
  type Architecture,
  dataAddress,
  entryWords,
  type StarterData,
  subtractNumber,
} from './machine-code.ts';
import { callNumber, type StarterCall } from './system-calls.ts';

/** A number, or the address of a NUL-terminated text, of bytes, of a zero-terminated list of addresses, of a cell, or of a step's argument. */
export type Argument =
  | number
  | bigint
  | string
  | Uint8Array
  | { readonly list: readonly Argument[] }
  /** Memory for a result, initially zero; large enough for waitid() and statx(). */
  | { readonly cell: string; readonly offset?: number }
  | { readonly argumentOf: string; readonly index: number };

export type Step = {
  readonly call: StarterCall | 'subtract';
  readonly args?: readonly Argument[];
  /** Target of jumps. */
  readonly label?: string;
  /** Address to which the result is written. */
  readonly result?: Argument;
  /** The step to continue at; absent: the next. */
  readonly onZero?: string;
  readonly onPositive?: string;
  /** `next`, or a label; absent: the start fails, with `what` in the message. */
  readonly onError?: string;
  /** For error messages: `mount /data`. */
  readonly what?: string;
};

export type AssembledSteps = {
  readonly data: StarterData;
  /** `what` of the entry at an address. */
  readonly whatAt: (address: number) => string;
};

const wordBytes = 8;
const reportBytes = 16;
const cellBytes = 32 * wordBytes;
const entryBytes = entryWords * wordBytes;
/** Descriptor for the report of a failed start. It is closed when the program starts. */
export const reportDescriptor = 3;
/** As in shells, for a program that could not be started. */
const failedExitCode = 127;

/** After the last step the process ends with 127. */
export function assemble(steps: readonly Step[], architecture: Architecture): AssembledSteps {
  const all: readonly Step[] = [
    ...steps,
    { call: 'exit_group', args: [failedExitCode], onError: 'next' },
    {
      label: fatalLabel,
      call: 'write',
      args: [reportDescriptor, BigInt(dataAddress), reportBytes],
      onError: 'next',
    },
    { call: 'exit_group', args: [failedExitCode], onError: 'next' },
  ];
  const entryAddress = (index: number): number => dataAddress + reportBytes + index * entryBytes;
  const heap = createHeap(all, entryAddress);
  const words: bigint[] = [];
  for (const [index, step] of all.entries()) {
    const next = entryAddress(Math.min(index + 1, all.length - 1));
    const target = (label: string | undefined): number =>
      label === undefined || label === 'next' ? next : heap.labelled(label);
    const args = Array.from({ length: 6 }, (_, at) => heap.value(step.args?.[at] ?? 0));
    words.push(
      BigInt(step.call === 'subtract' ? subtractNumber : callNumber(step.call, architecture)),
      ...args,
      step.result === undefined ? 0n : heap.value(step.result),
      BigInt(target(step.onZero)),
      BigInt(target(step.onPositive)),
      step.onError === undefined ? 0n : BigInt(target(step.onError)),
    );
  }
  const head = Buffer.alloc(reportBytes + words.length * wordBytes);
  for (const [index, word] of words.entries())
    head.writeBigInt64LE(BigInt.asIntN(64, word), reportBytes + index * wordBytes);
  return {
    data: {
      bytes: Buffer.concat([head, ...heap.bytes()]),
      firstEntry: entryAddress(0),
      fatalEntry: heap.labelled(fatalLabel),
      report: dataAddress,
    },
    whatAt: (address) => {
      const step = all[(address - entryAddress(0)) / entryBytes];
      return step?.what ?? step?.call ?? 'start';
    },
  };
}

const fatalLabel = 'fatal';

/** Memory behind the entries for the targets of pointers; each text and cell once. */
function createHeap(steps: readonly Step[], entryAddress: (index: number) => number) {
  const labels = new Map(
    steps.flatMap(({ label }, index) => (label === undefined ? [] : [[label, index]])),
  );
  const chunks: Buffer[] = [];
  const known = new Map<string, number>();
  let end = entryAddress(steps.length);
  const add = (bytes: Uint8Array): number => {
    const address = end;
    const padded = Buffer.alloc(Math.ceil(bytes.length / wordBytes) * wordBytes);
    padded.set(bytes);
    chunks.push(padded);
    end += padded.length;
    return address;
  };
  const addOnce = (key: string, bytes: () => Uint8Array): number => {
    const address = known.get(key) ?? add(bytes());
    known.set(key, address);
    return address;
  };
  const labelled = (label: string): number => {
    const index = labels.get(label);
    if (index === undefined) throw new Error(`Unknown label ${JSON.stringify(label)}`);
    return entryAddress(index);
  };
  const list = (members: readonly Argument[]): number => {
    const words = Buffer.alloc((members.length + 1) * wordBytes);
    for (const [index, one] of members.entries())
      words.writeBigInt64LE(BigInt.asIntN(64, value(one)), index * wordBytes);
    return add(words);
  };
  const address = (argument: Exclude<Argument, number | bigint>): number => {
    if (typeof argument === 'string') return addOnce(`text ${argument}`, () => textBytes(argument));
    if (argument instanceof Uint8Array) return add(argument);
    if ('list' in argument) return list(argument.list);
    if ('argumentOf' in argument)
      return labelled(argument.argumentOf) + (1 + argument.index) * wordBytes;
    const cell = addOnce(`cell ${argument.cell}`, () => new Uint8Array(cellBytes));
    return cell + (argument.offset ?? 0);
  };
  const value = (argument: Argument): bigint =>
    BigInt(
      typeof argument === 'number' || typeof argument === 'bigint' ? argument : address(argument),
    );
  return { labelled, value, bytes: (): readonly Buffer[] => chunks };
}

function textBytes(text: string): Uint8Array {
  if (text.includes('\0')) throw new Error('A text for the kernel must not contain NUL');
  return Buffer.from(`${text}\0`);
}
