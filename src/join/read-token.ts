// Reads a bootstrap token from a file or standard input. On the command line every user of the machine could read it until the program
// has hidden it.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { UsageError, type World } from '../flags/command.ts';

/** The environment variable of the token for `node --join` and `proxy --join` without a token flag. */
export const tokenVariable = 'FAIRLEAD_TOKEN';

/** Bounds memory: a larger file cannot be a token file. */
const maxTokenBytes = 64 * 1024;

/** The first line of the file; `-` is standard input. */
export async function readTokenFile(file: string, world: Pick<World, 'cwd'>): Promise<string> {
  const bytes = file === '-' ? await readInput() : await readPath(resolve(world.cwd(), file));
  const [line = ''] = bytes.subarray(0, maxTokenBytes).toString('utf8').split('\n');
  const token = line.trim();
  if (token !== '') return token;
  throw new UsageError(`Cannot read a token from ${nameOf(file)}: its first line is empty.`);
}

const nameOf = (file: string): string => (file === '-' ? 'standard input' : JSON.stringify(file));

async function readPath(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new UsageError(`Cannot read a token from "${path}": ${(error as Error).message}`);
  }
}

async function readInput(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxTokenBytes || chunk.includes('\n')) break;
  }
  return Buffer.concat(chunks);
}
