// Answers that come in pages, and requests that take no more than so many things.

export type Page<T> = {
  readonly items: readonly T[] | undefined;
  readonly next: string | undefined;
};

/** More than any account has; a server that never ends a list does not keep us for ever. */
const maxPages = 1_000;

export async function collectPages<T>(
  read: (token: string | undefined) => Promise<Page<T>>,
): Promise<readonly T[]> {
  const all: T[] = [];
  let token: string | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const { items, next } = await read(token);
    all.push(...(items ?? []));
    if (next === undefined || next === '') return all;
    token = next;
  }
  throw new Error(`Cannot read a list of AWS: it has more than ${maxPages} pages`);
}

export function chunks<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, at) => items.slice(at * size, (at + 1) * size));
}

/** AWS takes no more values for one filter. */
export const maxFilterValues = 200;
