// Requests of AWS' query protocols: a form whose names are paths, `Listeners.member.1.Protocol=TCP`.

export type Value = string | readonly Value[] | Fields;
export type Fields = { readonly [name: string]: Value };

type Tree = { [name: string]: Tree | string };

export function decodeQuery(body: string): Fields {
  const root: Tree = {};
  for (const [path, value] of new URLSearchParams(body)) {
    const parts = path.split('.');
    const last = parts.pop() ?? '';
    let node = root;
    for (const part of parts) {
      const there = node[part];
      const next: Tree = typeof there === 'object' ? there : {};
      node[part] = next;
      node = next;
    }
    node[last] = value;
  }
  return simplify(root) as Fields;
}

/** Numbered names are lists; `member` is how the older services say that one follows. */
function simplify(value: Tree | string): Value {
  if (typeof value === 'string') return value;
  const names = Object.keys(value);
  const [only] = names;
  if (names.length === 1 && only === 'member') return simplify(value.member ?? '');
  if (names.length > 0 && names.every((name) => /^\d+$/.test(name))) {
    return names.sort((a, b) => Number(a) - Number(b)).map((name) => simplify(value[name] ?? ''));
  }
  return Object.fromEntries(names.map((name) => [name, simplify(value[name] ?? '')]));
}

export function textOf(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' ? value : undefined;
}

export function numberOf(fields: Fields, name: string): number | undefined {
  const text = textOf(fields, name);
  return text === undefined || text === '' ? undefined : Number(text);
}

/** An empty list comes as an empty text. */
export function listOf(fields: Fields, name: string): readonly Value[] {
  const value = fields[name];
  return Array.isArray(value) ? value : [];
}

export function textsOf(fields: Fields, name: string): readonly string[] {
  return listOf(fields, name).filter((value) => typeof value === 'string');
}

export function recordsOf(fields: Fields, name: string): readonly Fields[] {
  return listOf(fields, name).filter(isFields);
}

export function fieldsOf(fields: Fields, name: string): Fields | undefined {
  const value = fields[name];
  return value !== undefined && isFields(value) ? value : undefined;
}

const isFields = (value: Value): value is Fields =>
  typeof value === 'object' && !Array.isArray(value);

export function tagsIn(fields: Fields, name: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    recordsOf(fields, name).map((tag) => [textOf(tag, 'Key') ?? '', textOf(tag, 'Value') ?? '']),
  );
}
