import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isApiError } from '../../meta/api-error.ts';
import { applyJsonPatch, jsonPatchProblems } from './json-patch.ts';

const document = { a: { b: 1, n: null }, list: [1, 2, 3], 'x/y': { 'p~q': 'z' } };

type Case = readonly [title: string, patch: unknown, result: unknown];

const applied: readonly Case[] = [
  ['no operations', [], document],
  ['null for the whole patch', null, document],
  [
    'add of a key',
    [{ op: 'add', path: '/a/c', value: 2 }],
    { ...document, a: { b: 1, n: null, c: 2 } },
  ],
  ['add over a key', [{ op: 'add', path: '/a', value: 2 }], { ...document, a: 2 }],
  ['add without a value is null', [{ op: 'add', path: '/a' }], { ...document, a: null }],
  [
    'add at the end',
    [{ op: 'add', path: '/list/-', value: 4 }],
    { ...document, list: [1, 2, 3, 4] },
  ],
  [
    'add at the length',
    [{ op: 'add', path: '/list/3', value: 4 }],
    { ...document, list: [1, 2, 3, 4] },
  ],
  [
    'add in the middle',
    [{ op: 'add', path: '/list/1', value: 9 }],
    { ...document, list: [1, 9, 2, 3] },
  ],
  [
    'add before the end',
    [{ op: 'add', path: '/list/-2', value: 9 }],
    { ...document, list: [1, 2, 9, 3] },
  ],
  [
    'replace of an item',
    [{ op: 'replace', path: '/list/0', value: 9 }],
    { ...document, list: [9, 2, 3] },
  ],
  [
    'replace of the last item',
    [{ op: 'replace', path: '/list/-1', value: 9 }],
    { ...document, list: [1, 2, 9] },
  ],
  ['replace of a missing key', [{ op: 'replace', path: '/c', value: 9 }], { ...document, c: 9 }],
  ['remove of a key', [{ op: 'remove', path: '/a/b' }], { ...document, a: { n: null } }],
  ['remove of a null', [{ op: 'remove', path: '/a/n' }], { ...document, a: { b: 1 } }],
  ['remove of an item', [{ op: 'remove', path: '/list/-1' }], { ...document, list: [1, 2] }],
  [
    'escaped keys',
    [{ op: 'replace', path: '/x~1y/p~0q', value: 1 }],
    { ...document, 'x/y': { 'p~q': 1 } },
  ],
  ['move', [{ op: 'move', from: '/a/b', path: '/c' }], { ...document, a: { n: null }, c: 1 }],
  [
    'move within a list',
    [{ op: 'move', from: '/list/0', path: '/list/2' }],
    { ...document, list: [2, 3, 1] },
  ],
  ['copy', [{ op: 'copy', from: '/list', path: '/c' }], { ...document, c: [1, 2, 3] }],
  [
    'copy of a missing key is null',
    [{ op: 'copy', from: '/z', path: '/c' }],
    { ...document, c: null },
  ],
  ['replace of the whole document', [{ op: 'replace', path: '', value: { c: 1 } }], { c: 1 }],
  ['test of the whole document', [{ op: 'test', path: '', value: document }], document],
  ['test that holds', [{ op: 'test', path: '/list', value: [1, 2, 3] }], document],
  [
    'test of null and nothing',
    [
      { op: 'test', path: '/a/n', value: null },
      { op: 'test', path: '/z' },
    ],
    document,
  ],
  [
    'what stands before the slash',
    [{ op: 'replace', path: 'any/a', value: 1 }],
    { ...document, a: 1 },
  ],
];

const rejected: readonly (readonly [title: string, operation: unknown])[] = [
  ['remove of a missing key', { op: 'remove', path: '/z' }],
  ['remove of a missing item', { op: 'remove', path: '/list/3' }],
  ['add below a missing key', { op: 'add', path: '/z/a', value: 1 }],
  ['add below a null', { op: 'add', path: '/a/n/x', value: 1 }],
  ['add below a scalar', { op: 'add', path: '/a/b/x', value: 1 }],
  ['add past the end', { op: 'add', path: '/list/4', value: 1 }],
  ['add with a name in a list', { op: 'add', path: '/list/x', value: 1 }],
  ['replace of a missing item', { op: 'replace', path: '/list/3', value: 1 }],
  ['add of a whole document', { op: 'add', path: '', value: {} }],
  ['remove of the whole document', { op: 'remove', path: '' }],
  ['replace of the whole document by a text', { op: 'replace', path: '', value: 'x' }],
  ['replace of the whole document by nothing', { op: 'replace', path: '' }],
  ['test of the whole document that fails', { op: 'test', path: '', value: {} }],
  ['move of a missing key', { op: 'move', from: '/z', path: '/a' }],
  ['test that fails', { op: 'test', path: '/a/b', value: 2 }],
  ['test of a missing key', { op: 'test', path: '/z', value: 2 }],
  ['no path', { op: 'replace', value: 1 }],
  ['no operation', { path: '/a', value: 1 }],
  ['an unknown operation', { op: 'merge', path: '/a', value: 1 }],
  ['null for an operation', null],
  ['inherited names', { op: 'remove', path: '/constructor' }],
];

const undecodable: readonly Case[] = [
  ['no list', {}, 'cannot unmarshal object into Go value of type []handlers.jsonPatchOp'],
  ['a string', 'x', 'cannot unmarshal string into Go value of type []handlers.jsonPatchOp'],
  [
    'a list of strings',
    ['x'],
    'cannot unmarshal string into Go value of type handlers.jsonPatchOp',
  ],
  [
    'a number as path',
    [{ op: 'add', path: 1 }],
    'cannot unmarshal number into Go struct field jsonPatchOp.path of type string',
  ],
];

describe('applyJsonPatch()', () => {
  for (const [title, patch, result] of applied) {
    it(`applies ${title}`, () => {
      const before = structuredClone(document);
      assert.deepEqual(applyJsonPatch(document, patch), result);
      assert.deepEqual(document, before);
    });
  }

  for (const [title, operation] of rejected) {
    it(`rejects ${title}`, () => {
      assert.throws(() => applyJsonPatch(document, [operation]), {
        message: 'the server rejected our request due to an error in our request',
      });
    });
  }

  for (const [title, patch, why] of undecodable) {
    it(`cannot decode ${title}`, () => {
      assert.throws(() => applyJsonPatch(document, patch), {
        message: `error decoding patch: json: ${why}`,
      });
    });
  }

  it('keeps a key named __proto__ a key', () => {
    const result = applyJsonPatch({}, [
      { op: 'add', path: '/__proto__', value: { a: 1 } },
    ]) as object;
    assert.deepEqual(Object.keys(result), ['__proto__']);
    assert.equal(Object.getPrototypeOf(result), Object.prototype);
  });

  it('takes at most 10000 operations', () => {
    const operation = { op: 'test', path: '/a/b', value: 1 };
    assert.equal(applyJsonPatch(document, Array(10_000).fill(operation)), document);
    assert.throws(
      () => applyJsonPatch(document, Array(10_001).fill(operation)),
      (error) =>
        isApiError(error) &&
        error.status.code === 413 &&
        error.message ===
          'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    );
  });

  it('does not build by moves what no body could say', () => {
    const wrap = [
      { op: 'add', path: '/b', value: {} },
      { op: 'move', from: '/a', path: '/b/a' },
      { op: 'move', from: '/b', path: '/a' },
    ];
    assert.throws(() => applyJsonPatch({ a: {} }, Array(1000).fill(wrap).flat()), {
      message: /rejected our request/,
    });
  });

  it('copies at most 3 MiB', () => {
    const doubling = Array.from({ length: 30 }, (_, i) => ({
      op: 'copy',
      from: '/a',
      path: `/a/${i}`,
    }));
    assert.throws(() => applyJsonPatch({ a: { x: 'x' } }, doubling), {
      message: /rejected our request/,
    });
  });
});

describe('applyJsonPatch() of many operations on a large document', () => {
  const size = 5_000;
  const items = Array.from({ length: size }, (_, index) => index);
  const keys = Object.fromEntries(items.map((index) => [`k${index}`, { a: 'x' }]));
  const large = { items, keys };
  const many = (operation: (index: number) => object): readonly object[] =>
    Array.from({ length: size - 1 }, (_, index) => operation(index));
  const patches: Readonly<Record<string, readonly object[]>> = {
    'items in front': many((value) => ({ op: 'add', path: '/items/0', value })),
    'items at the end': many((value) => ({ op: 'add', path: '/items/-', value })),
    'items removed in front': many(() => ({ op: 'remove', path: '/items/0' })),
    'items moved through the list': many(() => ({
      op: 'move',
      from: '/items/-1',
      path: '/items/0',
    })),
    'keys added': many((index) => ({ op: 'add', path: `/keys/n${index}`, value: {} })),
    'keys removed': many((index) => ({ op: 'remove', path: `/keys/k${index}` })),
    'keys replaced': many((index) => ({ op: 'replace', path: `/keys/k${index}/a`, value: 'y' })),
    'keys copied': many((index) => ({ op: 'copy', from: '/keys/k1', path: `/keys/n${index}` })),
    'equal tests': many((index) => ({ op: 'test', path: `/keys/k${index}`, value: { a: 'x' } })),
  };
  for (const [name, patch] of Object.entries(patches)) {
    it(`does ${name} as one by one`, () => {
      const before = JSON.stringify(large);
      assert.deepEqual(applyJsonPatch(large, patch), applyPlainly(large, patch));
      assert.equal(JSON.stringify(large), before);
    });
  }

  it('copies no container twice', () => {
    // A list that counts how often it is read from end to end.
    let reads = 0;
    const watched = new Proxy([...items], {
      get(target, key, receiver) {
        if (key === '0') reads += 1;
        return Reflect.get(target, key, receiver);
      },
    });
    applyJsonPatch({ items: watched }, patches['items in front']);
    assert.ok(reads <= 2, `read ${reads} times`);
  });

  it('compares a large map with many small ones without reading it again', () => {
    let reads = 0;
    const watched = new Proxy(keys, {
      ownKeys(target) {
        reads += 1;
        return Reflect.ownKeys(target);
      },
    });
    const patch = Array(9_999).fill({ op: 'test', path: '/keys', value: {} });
    assert.throws(() => applyJsonPatch({ keys: watched }, patch), /rejected/);
    assert.ok(reads <= 1, `read ${reads} times`);
  });
});

type Step = {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  readonly path: string;
  readonly value?: unknown;
};
type Large = { items: unknown[]; keys: Record<string, unknown> };

/** Only what the patches above say, on a copy, by the means of the language. */
function applyPlainly(document: object, patch: readonly object[]): unknown {
  const result = structuredClone(document) as Large;
  for (const step of patch as readonly Step[]) {
    const [, container, key = ''] = step.path.split('/');
    if (container === 'items') stepInItems(result, step, key);
    else stepInKeys(result, step, key);
  }
  return result;
}

function stepInItems({ items }: Large, { op, value }: Step, key: string): void {
  if (op === 'move') items.unshift(items.pop());
  else if (op === 'remove') items.shift();
  else if (key === '-') items.push(value);
  else items.unshift(value);
}

function stepInKeys({ keys }: Large, { op, value }: Step, key: string): void {
  if (op === 'copy') keys[key] = keys.k1;
  else if (op === 'remove') delete keys[key];
  else if (op !== 'test') keys[key] = op === 'replace' ? { a: value } : value;
}

describe('jsonPatchProblems()', () => {
  it('names members that no operation has', () => {
    const patch = [
      { op: 'add', path: '/a', value: 1 },
      { op: 'add', path: '/b', value: 1, foo: 2 },
    ];
    assert.deepEqual(jsonPatchProblems(patch), ['json patch unknown field "[1].foo"']);
  });

  it('names members that are given twice', () => {
    const patch = [{ op: 'add', path: '/a', value: 1 }];
    assert.deepEqual(jsonPatchProblems(patch, ['[0].op']), ['json patch duplicate field "[0].op"']);
  });
});
