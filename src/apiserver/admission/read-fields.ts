import { isJsonObject } from '../../schema/json-object.ts';

// Reading configuration files: what is not understood is a problem, never ignored.

export type Problems = { readonly push: (problem: string) => void };

type Reading<K extends string> = {
  /** Path of the document in its file, for problems. */
  readonly where: string;
  readonly known: readonly K[];
  readonly problems: Problems;
};

export function fieldsOf<K extends string>(
  document: unknown,
  { where, known, problems }: Reading<K>,
): Readonly<Partial<Record<K, unknown>>> {
  if (!isJsonObject(document)) {
    problems.push(`${where}: must be a map`);
    return {} as Partial<Record<K, unknown>>;
  }
  const names: readonly string[] = known;
  for (const name of Object.keys(document))
    if (!names.includes(name)) problems.push(`${where}: unknown field "${name}"`);
  return document as Partial<Record<K, unknown>>;
}

export function stringOf(value: unknown, where: string, problems: Problems): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  problems.push(`${where}: must be a string`);
  return '';
}

export function listOf(value: unknown, where: string, problems: Problems): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  problems.push(`${where}: must be a list`);
  return [];
}

export function stringList(value: unknown, where: string, problems: Problems): readonly string[] {
  return listOf(value, where, problems).map((one, at) =>
    stringOf(one, `${where}[${at}]`, problems),
  );
}
