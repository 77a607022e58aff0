// The documentation page of a check, which is shipped with the program.
import { readFile } from 'node:fs/promises';

/** The same from a compiled file and from the bundle: both are three folders deep. */
const folder = new URL('../../../docs/doctor/', import.meta.url);

export async function readPage(code: string): Promise<string> {
  return await readFile(new URL(`${code}.md`, folder), 'utf8');
}

export async function readPages(codes: Iterable<string>): Promise<ReadonlyMap<string, string>> {
  const pages = [...new Set(codes)].map(async (code) => [code, await readPage(code)] as const);
  return new Map(await Promise.all(pages));
}
