// Starts the bare server in a process of its own.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { end } from './binary.ts';
import type { Target } from './target.ts';

export type CeilingOptions = {
  readonly target: Target;
  /** Length of an answer's body. */
  readonly bytes: number;
  /** Where writes go. */
  readonly file: string;
};

export type Ceiling = {
  readonly pid: number;
  readonly target: Target;
  readonly stop: () => Promise<void>;
};

export async function startCeiling(options: CeilingOptions): Promise<Ceiling> {
  const child = fork(fileURLToPath(new URL('./ceiling-process.js', import.meta.url)));
  child.send(options);
  const [port] = (await once(child, 'message')) as [number];
  return { pid: child.pid ?? 0, target: { ...options.target, port }, stop: () => end(child) };
}
