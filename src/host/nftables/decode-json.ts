// What `nft -j list` prints, as our objects.
import type { Element, FieldType, NftSet, Scalar, Verdict } from './objects.ts';
import type { TableNames } from './table-access.ts';

export function decodeNames(listed: unknown): TableNames {
  const chains = new Map<string, number>();
  const sets = new Set<string>();
  for (const object of objectsOf(listed)) {
    const chain = field(object, 'chain');
    if (chain !== undefined) chains.set(text(field(chain, 'name')), 0);
    const set = field(object, 'set') ?? field(object, 'map');
    if (set !== undefined) sets.add(text(field(set, 'name')));
  }
  for (const object of objectsOf(listed)) {
    const rule = field(object, 'rule');
    if (rule === undefined) continue;
    const chain = text(field(rule, 'chain'));
    chains.set(chain, (chains.get(chain) ?? 0) + 1);
  }
  return { chains, sets };
}

export function decodeElementList(listed: unknown, set: NftSet): readonly Element[] {
  const found = objectsOf(listed)
    .map((object) => field(object, 'set') ?? field(object, 'map'))
    .find((object) => object !== undefined && field(object, 'name') === set.name);
  return arrayOf(field(found, 'elem')).map((element) => decodeElement(element, set));
}

function decodeElement(element: unknown, { key, data }: NftSet): Element {
  if (data === undefined) return { key: decodeParts(element, key) };
  const [keyPart, dataPart] = arrayOf(element);
  return {
    key: decodeParts(keyPart, key),
    data: data === 'verdict' ? decodeVerdict(dataPart) : decodeParts(dataPart, data),
  };
}

function decodeParts(value: unknown, types: readonly FieldType[]): readonly Scalar[] {
  const parts = types.length === 1 ? [value] : arrayOf(field(value, 'concat'));
  return parts.map(decodeScalar);
}

function decodeScalar(value: unknown): Scalar {
  if (typeof value === 'string' || typeof value === 'number') return value;
  const prefix = field(value, 'prefix');
  if (prefix !== undefined) return `${text(field(prefix, 'addr'))}/${String(field(prefix, 'len'))}`;
  throw new Error(`Cannot read an element: nft wrote ${JSON.stringify(value)}`);
}

function decodeVerdict(value: unknown): Verdict {
  for (const kind of ['goto', 'jump'] as const) {
    const target = field(value, kind);
    if (target !== undefined) return { kind, chain: text(field(target, 'target')) };
  }
  for (const kind of ['drop', 'accept', 'return'] as const) {
    if (field(value, kind) !== undefined) return { kind };
  }
  throw new Error(`Cannot read a verdict: nft wrote ${JSON.stringify(value)}`);
}

function objectsOf(listed: unknown): readonly unknown[] {
  return arrayOf(field(listed, 'nftables'));
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && name in value
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return String(value);
}
