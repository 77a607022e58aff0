// Makes wrong what was right: values inside an object, characters of a text, bytes of a frame.
import type { Random } from '../parts/harness/random.ts';

type Fields = Readonly<Record<string, unknown>>;

const nested = (depth: number, wrap: (inner: unknown) => unknown): unknown => {
  let value: unknown = 'x';
  for (let i = 0; i < depth; i++) value = wrap(value);
  return value;
};

/** Values that have broken servers before: ends of ranges, other types, names that objects have anyway. */
export const oddValues: readonly [unknown, ...unknown[]] = [
  null,
  true,
  false,
  0,
  -1,
  -0,
  1.5,
  1e308,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 53,
  9.3e18,
  65536,
  '',
  ' ',
  '0',
  '-1',
  'NaN',
  '1e9999999999',
  '1'.repeat(400),
  '999999999999999999999999999999Ei',
  '0.0000000000000000000000000001n',
  '100%',
  '-5%',
  '99999999999999999999%',
  'a'.repeat(300),
  'a'.repeat(70_000),
  '-'.repeat(5000),
  'a.'.repeat(3000),
  '\u0000',
  '\uD800',
  '💥'.repeat(64),
  '\r\n',
  '../../etc/passwd',
  '$(A)$(B)$$(C)',
  '::',
  '::ffff:1.2.3.4',
  '1.2.3.4/33',
  '01.2.3.4',
  'fe80::1%eth0',
  '0.0.0.0/0',
  '::/0',
  '2024-01-01T00:00:00Z',
  '2024-02-31T25:61:61Z',
  '0000-00-00T00:00:00Z',
  '9999-12-31T23:59:59.999999999+23:59',
  '-292277022399-01-01T00:00:00Z',
  '====',
  '__proto__',
  'constructor',
  'toString',
  [],
  {},
  [null],
  [[]],
  [{}],
  { '': '' },
  { a: null },
  { constructor: { name: 'x' } },
  { $patch: 'delete' },
  { $patch: 'replace' },
  { $patch: 'x' },
  { $retainKeys: ['a'] },
  { '$setElementOrder/ports': [1, null, {}] },
  { '$deleteFromPrimitiveList/finalizers': [{}] },
  nested(50, (inner) => [inner]),
  nested(200, (inner) => ({ a: inner })),
];

const oddKeys: readonly [string, ...string[]] = [
  '',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'kind',
  'metadata',
  'spec',
  'status',
  '$patch',
  '$retainKeys',
  '$setElementOrder/ports',
  '$setElementOrder/containers',
  '$deleteFromPrimitiveList/finalizers',
  'f:spec',
  'a/b',
  'a~b',
  'Ports',
  'é',
];

/** The object with one to four places changed. */
export function mutateValue(random: Random, value: unknown): unknown {
  let changed = value;
  for (let left = 1 + random.below(4); left > 0; left--) changed = mutateOnce(random, changed, 0);
  return changed;
}

const deepest = 12;

function mutateOnce(random: Random, value: unknown, depth: number): unknown {
  const isLeaf = typeof value !== 'object' || value === null;
  if (isLeaf || depth > deepest || random.below(6) === 0) return changeHere(random, value);
  if (Array.isArray(value)) return mutateItem(random, value, depth);
  const keys = Object.keys(value);
  const key = keys[random.below(keys.length)];
  if (key === undefined) return changeHere(random, value);
  return withKey(value as Fields, key, mutateOnce(random, (value as Fields)[key], depth + 1));
}

function mutateItem(random: Random, list: readonly unknown[], depth: number): unknown {
  if (list.length === 0) return changeHere(random, list);
  const at = random.below(list.length);
  return list.map((item, i) => (i === at ? mutateOnce(random, item, depth + 1) : item));
}

function changeHere(random: Random, value: unknown): unknown {
  if (random.below(3) === 0 || typeof value !== 'object' || value === null) {
    return typeof value === 'string' && random.below(3) === 0
      ? mutateText(random, value)
      : random.pick(oddValues);
  }
  if (Array.isArray(value)) return changeList(random, value);
  return changeFields(random, value as Fields);
}

function changeList(random: Random, list: readonly unknown[]): unknown {
  switch (random.below(4)) {
    case 0:
      return [...list, ...list];
    case 1:
      return [...list, random.pick(oddValues)];
    case 2:
      return list.slice(1);
    default:
      return Array.from({ length: 1200 }, () => list[0] ?? random.pick(oddValues));
  }
}

function changeFields(random: Random, fields: Fields): unknown {
  const keys = Object.keys(fields);
  const key = keys[random.below(keys.length)] ?? '';
  switch (random.below(4)) {
    case 0:
      return withKey(fields, random.pick(oddKeys), random.pick(oddValues));
    case 1:
      return Object.fromEntries(Object.entries(fields).filter(([name]) => name !== key));
    case 2:
      return withKey(fields, random.pick(oddKeys), fields[key]);
    default:
      return withKey(fields, key, [fields[key]]);
  }
}

/** With `__proto__` as a field of its own, which an assignment would not make. */
function withKey(fields: Fields, key: string, value: unknown): Fields {
  return Object.fromEntries([...Object.entries(fields).filter(([k]) => k !== key), [key, value]]);
}

const oddTexts: readonly [string, ...string[]] = [
  '"',
  '{',
  '[',
  '}',
  ',',
  ':',
  '\\u',
  '\\ud800',
  'null',
  '-',
  '1e999',
  '\u0000',
  '\n',
  '\t- ',
  '&a *a',
  '!!binary ',
  '<<: *x',
  '---\n',
  '# ',
  '%',
  '💥',
];

export function mutateText(random: Random, text: string): string {
  const at = random.below(text.length + 1);
  const to = Math.min(text.length, at + random.below(8));
  switch (random.below(5)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return text.slice(0, at) + random.pick(oddTexts) + text.slice(at);
    case 2:
      return text.slice(0, at) + text.slice(to);
    case 3:
      return text.slice(0, at) + random.pick(oddTexts) + text.slice(to);
    default:
      return text.slice(0, to) + text.slice(at);
  }
}

export function mutateBytes(random: Random, bytes: Uint8Array): Uint8Array {
  const changed = Buffer.from(bytes);
  for (let left = 1 + random.below(6); left > 0 && changed.length > 0; left--) {
    const at = random.below(changed.length);
    changed[at] = random.pick([0, 0xff, 0x80, 0x7f, random.below(256), (changed[at] ?? 0) ^ 1]);
  }
  switch (random.below(4)) {
    case 0:
      return changed.subarray(0, random.below(changed.length + 1));
    case 1: {
      const at = random.below(changed.length + 1);
      return Buffer.concat([changed.subarray(0, at), Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff])]);
    }
    default:
      return changed;
  }
}
