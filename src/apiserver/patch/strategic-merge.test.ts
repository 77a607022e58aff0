import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isApiError } from '../../meta/api-error.ts';
import * as s from '../../schema/node.ts';
import { unstructuredError } from './from-unstructured.ts';
import { goText } from './go-text.ts';
import { applyStrategicMerge } from './strategic-merge.ts';

const env = s.struct('EnvVar', { name: s.always(s.string()), value: s.string() });
const container = s.struct('Container', {
  name: s.always(s.string()),
  image: s.string(),
  command: s.list(s.string()),
  env: s.list(env, '', { mergeKey: 'name', patchStrategy: 'merge' }),
});
const strategy = s.struct('Strategy', { type: s.string(), rolling: s.map(s.string()) });
const schema = s.struct('Thing', {
  labels: s.map(s.string()),
  selector: s.pointer(s.struct('Selector', { match: s.map(s.string()) }), {
    patchStrategy: 'replace',
  }),
  finalizers: s.list(s.string(), '', { patchStrategy: 'merge' }),
  containers: s.list(container, '', { mergeKey: 'name', patchStrategy: 'merge' }),
  args: s.list(s.string()),
  taints: s.list(env),
  strategy: s.pointer(strategy, { patchStrategy: 'retainKeys' }),
  replicas: s.int32(),
});

type Case = readonly [title: string, document: unknown, patch: unknown, result: unknown];

const named = (...names: readonly string[]) => names.map((name) => ({ name }));

const maps: readonly Case[] = [
  [
    'merges maps',
    { labels: { a: '1', b: '2' } },
    { labels: { b: '3', c: '4' } },
    { labels: { a: '1', b: '3', c: '4' } },
  ],
  [
    'deletes with null',
    { labels: { a: '1', b: '2' } },
    { labels: { b: null } },
    { labels: { a: '1' } },
  ],
  ['ignores null for what is not there', {}, { labels: null, args: null }, {}],
  [
    'replaces a map',
    { labels: { a: '1' } },
    { labels: { $patch: 'replace', c: '3' } },
    { labels: { c: '3' } },
  ],
  ['empties a map', { labels: { a: '1' } }, { labels: { $patch: 'delete' } }, { labels: {} }],
  [
    'replaces by strategy',
    { selector: { match: { a: '1' } } },
    { selector: { match: { b: '2' } } },
    { selector: { match: { b: '2' } } },
  ],
  [
    'retains keys',
    { strategy: { type: 'Rolling', rolling: { a: '1' } } },
    { strategy: { $retainKeys: ['type'], type: 'Recreate' } },
    { strategy: { type: 'Recreate' } },
  ],
  ['replaces what is of another type', { labels: { a: '1' } }, { labels: 'x' }, { labels: 'x' }],
  ['takes unknown fields', {}, { foo: { bar: 1 } }, { foo: { bar: 1 } }],
  ['leaves out nulls of a new map', {}, { labels: { a: '1', b: null } }, { labels: { a: '1' } }],
  [
    'drops directives that meet nothing',
    {},
    { labels: { $patch: 'delete' }, containers: [{ name: 'a', $patch: 'delete' }, { name: 'b' }] },
    { containers: named('b') },
  ],
];

const lists: readonly Case[] = [
  [
    'replaces lists without strategy',
    { args: ['a'], taints: named('a') },
    { args: ['b'], taints: named('b') },
    { args: ['b'], taints: named('b') },
  ],
  [
    'merges items by key',
    { containers: [{ name: 'a', image: '1', command: ['x'] }] },
    { containers: [{ name: 'a', image: '2' }] },
    { containers: [{ name: 'a', image: '2', command: ['x'] }] },
  ],
  [
    'merges lists in items',
    { containers: [{ name: 'a', env: named('x') }] },
    { containers: [{ name: 'a', env: [{ name: 'x', value: '1' }] }] },
    { containers: [{ name: 'a', env: [{ name: 'x', value: '1' }] }] },
  ],
  [
    'puts new items in front',
    { containers: named('a', 'b') },
    { containers: named('c') },
    { containers: named('c', 'a', 'b') },
  ],
  [
    'puts new items after the merged one before',
    { containers: named('a', 'b') },
    { containers: named('b', 'c') },
    { containers: named('a', 'b', 'c') },
  ],
  [
    'takes the order of the patch',
    { containers: named('a', 'b', 'x') },
    { containers: named('b', 'a') },
    { containers: named('b', 'a', 'x') },
  ],
  [
    'deletes an item',
    { containers: named('a', 'b') },
    { containers: [{ name: 'a', $patch: 'delete' }] },
    { containers: named('b') },
  ],
  [
    'deletes all of a key',
    { containers: named('a', 'b', 'a') },
    { containers: [{ name: 'a', $patch: 'delete' }] },
    { containers: named('b') },
  ],
  [
    'replaces a list',
    { containers: named('a', 'b') },
    { containers: [{ $patch: 'replace' }, { name: 'c' }] },
    { containers: named('c') },
  ],
  [
    'empties a list',
    { containers: named('a') },
    { containers: [{ $patch: 'replace' }] },
    { containers: [] },
  ],
  [
    'joins values, new ones in front',
    { finalizers: ['a', 'b'] },
    { finalizers: ['c'] },
    { finalizers: ['c', 'a', 'b'] },
  ],
  [
    'joins values once',
    { finalizers: ['a', 'b'] },
    { finalizers: ['b', 'a'] },
    { finalizers: ['b', 'a'] },
  ],
  [
    'deletes values',
    { finalizers: ['a', 'b', 'c'] },
    { '$deleteFromPrimitiveList/finalizers': ['a', 'c'] },
    { finalizers: ['b'] },
  ],
  [
    'deletes values under any strategy',
    { args: ['a', 'b'] },
    { '$deleteFromPrimitiveList/args': ['a'] },
    { args: ['b'] },
  ],
  ['deletes nothing from nothing', {}, { '$deleteFromPrimitiveList/args': ['a'] }, {}],
  [
    'orders items',
    { containers: named('a', 'b') },
    { '$setElementOrder/containers': named('c', 'b', 'a'), containers: named('c') },
    { containers: named('c', 'b', 'a') },
  ],
  [
    'orders what is there',
    { containers: named('a', 'b', 'x') },
    { '$setElementOrder/containers': named('b', 'a') },
    { containers: named('b', 'a', 'x') },
  ],
  [
    'orders values',
    { finalizers: ['a', 'b'] },
    { '$setElementOrder/finalizers': ['b', 'c', 'a'], finalizers: ['c'] },
    { finalizers: ['b', 'c', 'a'] },
  ],
  [
    'orders and deletes',
    { containers: named('a', 'b', 'c') },
    {
      '$setElementOrder/containers': named('c', 'a'),
      containers: [{ name: 'b', $patch: 'delete' }],
    },
    { containers: named('c', 'a') },
  ],
  [
    'orders a new list',
    {},
    { '$setElementOrder/containers': named('b', 'a'), containers: named('b', 'a') },
    { containers: named('b', 'a') },
  ],
];

const errors: readonly (readonly [
  title: string,
  document: unknown,
  patch: unknown,
  code: number,
  message: string,
])[] = [
  [
    'no object',
    {},
    [],
    400,
    'json: cannot unmarshal array into Go value of type map[string]interface {}',
  ],
  [
    'an unknown directive',
    { labels: {} },
    { labels: { $patch: 'x' } },
    400,
    'unknown patch type: x in map: map[$patch:x]',
  ],
  [
    'an unknown directive of an item',
    { containers: named('a') },
    { containers: [{ name: 'a', $patch: 'x' }] },
    400,
    'unknown patch type: x in map: map[$patch:x name:a]',
  ],
  [
    'an item without key',
    { containers: named('a') },
    { containers: [{ image: 'x' }] },
    400,
    'map: map[image:x] does not contain declared merge key: name',
  ],
  [
    'keys to retain that are no list',
    { strategy: {} },
    { strategy: { $retainKeys: 'a' } },
    400,
    'invalid patch format of retainKeys',
  ],
  [
    'a key that is not retained',
    { strategy: {} },
    { strategy: { $retainKeys: ['type'], rolling: {} } },
    400,
    'invalid patch format of retainKeys',
  ],
  [
    'a deletion without list',
    {},
    { $deleteFromPrimitiveList: [] },
    400,
    'invalid patch format of primitive list',
  ],
  [
    'an order of an unknown list',
    {},
    { '$setElementOrder/foo': [] },
    400,
    'unable to find api field in struct Thing for the json field "foo"',
  ],
  [
    'an order that does not fit',
    { finalizers: ['a'] },
    { '$setElementOrder/finalizers': ['a'], finalizers: ['b'] },
    400,
    "The order in patch list:\n[b]\n doesn't match $setElementOrder list:\n[a]\n",
  ],
  [
    'items of several types',
    { finalizers: ['a'] },
    { finalizers: [1] },
    400,
    'list element types are not identical: [[a] [1]]',
  ],
  [
    'lists of lists',
    { finalizers: ['a'] },
    { finalizers: [[]] },
    422,
    'the server rejected our request due to an error in our request',
  ],
];

describe('applyStrategicMerge()', () => {
  for (const [title, document, patch, result] of [...maps, ...lists]) {
    it(title, () => {
      const before = structuredClone({ document, patch });
      assert.deepEqual(applyStrategicMerge(schema, document, patch), result);
      assert.deepEqual({ document, patch }, before);
    });
  }

  for (const [title, document, patch, code, message] of errors) {
    it(`refuses ${title}`, () => {
      assert.throws(
        () => applyStrategicMerge(schema, document, patch),
        (error) => {
          assert.ok(isApiError(error));
          assert.equal(error.message, message);
          return error.status.code === code;
        },
      );
    });
  }
});

describe('unstructuredError()', () => {
  const cases: readonly (readonly [value: unknown, error: string | undefined])[] = [
    [{ labels: { a: '1' }, containers: [], replicas: 1 }, undefined],
    [{ labels: null, replicas: null }, undefined],
    [{ containers: { name: 'a' } }, 'cannot restore slice from map'],
    [{ labels: 'x' }, 'cannot restore map from string'],
    [{ strategy: [] }, 'cannot restore struct from: slice'],
    [{ replicas: 'x' }, 'unrecognized type: int32'],
    [{ replicas: 1.5 }, 'cannot convert float64 to int32'],
    [{ args: [1] }, 'cannot convert int64 to string'],
    [{ args: [true] }, 'unrecognized type: string'],
  ];
  for (const [value, error] of cases) {
    it(`says ${error ?? 'nothing'} of ${JSON.stringify(value)}`, () => {
      assert.equal(unstructuredError(schema, value), error);
    });
  }
});

describe('goText()', () => {
  const cases: readonly (readonly [value: unknown, text: string])[] = [
    [
      { spec: { ports: [{ port: 80 }, null] }, a: true },
      'map[a:true spec:map[ports:[map[port:80] <nil>]]]',
    ],
    [1.5, '1.5'],
    [1e21, '1e+21'],
    [1e-7, '1e-07'],
  ];
  for (const [value, text] of cases) {
    it(`prints ${text}`, () => assert.equal(goText(value), text));
  }
});
