// Reads what the other side of a connection sends, which may be anything.

export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : undefined;
}

/** A whole number of at least 0; undefined for anything else. */
export function countIn(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

export function textIn(fields: Fields, name: string, maxLength: number): string | undefined {
  const value = fields[name];
  return typeof value === 'string' && value.length <= maxLength ? value : undefined;
}
