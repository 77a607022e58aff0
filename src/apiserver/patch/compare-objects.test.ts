import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { serviceSchema } from '../../kinds/service/types.ts';
import { compareObjects } from './compare-objects.ts';
import { memberPaths } from './fieldset.ts';
import { fieldsOf } from './from-object.ts';
import { typedErrors } from './typed-errors.ts';

const service = (metadata: object, spec: object, status: object = { loadBalancer: {} }) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata,
  spec,
  status,
});

type Case = {
  readonly title: string;
  readonly before: object;
  readonly after: object;
  readonly changed: readonly string[];
  readonly removed?: readonly string[];
};

const http = { port: 80, protocol: 'TCP', targetPort: 80 };

const cases: readonly Case[] = [
  {
    title: 'nothing',
    before: service({}, { ports: [http] }),
    after: service({}, { ports: [{ ...http }] }),
    changed: [],
  },
  {
    title: 'what no manager owns',
    before: service({}, {}),
    after: service({ name: 'a', uid: 'u', generation: 1, managedFields: [] }, {}),
    changed: [],
  },
  {
    title: 'a modified field',
    before: service({}, { type: 'ClusterIP' }),
    after: service({}, { type: 'NodePort' }),
    changed: ['.spec.type'],
  },
  {
    title: 'a whole map',
    before: service({}, {}),
    after: service({ labels: { a: '1' } }, {}),
    changed: ['.metadata.labels', '.metadata.labels.a'],
  },
  {
    title: 'one key of a map',
    before: service({ labels: { a: '1' } }, {}),
    after: service({ labels: { a: '1', constructor: '2' } }, {}),
    changed: ['.metadata.labels.constructor'],
  },
  {
    title: 'an atomic map',
    before: service({}, { selector: { a: '1' } }),
    after: service({}, { selector: { b: '2' } }),
    changed: ['.spec.selector'],
  },
  {
    title: 'a removed map',
    before: service({ labels: { a: '1' } }, {}),
    after: service({}, {}),
    changed: [],
    removed: ['.metadata.labels', '.metadata.labels.a'],
  },
  {
    title: 'a replaced item',
    before: service({}, { ports: [http] }),
    after: service({}, { ports: [{ ...http, protocol: 'UDP' }] }),
    changed: ['UDP', 'port', 'protocol', 'targetPort'].map(portPath('UDP')),
    removed: ['TCP', 'port', 'protocol', 'targetPort'].map(portPath('TCP')),
  },
  {
    title: 'a new pointer to a struct',
    before: service({}, {}),
    after: service({}, { sessionAffinityConfig: { clientIP: { timeoutSeconds: 1 } } }),
    changed: [
      '.spec.sessionAffinityConfig',
      '.spec.sessionAffinityConfig.clientIP',
      '.spec.sessionAffinityConfig.clientIP.timeoutSeconds',
    ],
  },
  {
    title: 'items that are ambiguous any more',
    before: service({}, { ports: [http] }),
    after: service({}, { ports: [http, { ...http, targetPort: 81 }] }),
    changed: ['.spec.ports[port=80,protocol="TCP"]'],
    removed: ['TCP', 'port', 'protocol', 'targetPort'].map(portPath('TCP')),
  },
  {
    title: 'values of a set',
    before: service({ finalizers: ['a', 'b'] }, {}),
    after: service({ finalizers: ['b', 'c'] }, {}),
    changed: ['.metadata.finalizers[="c"]'],
    removed: ['.metadata.finalizers[="a"]'],
  },
];

/** The path of a field of port 80; of the item itself for the name of the protocol. */
function portPath(protocol: string) {
  return (name: string): string =>
    `.spec.ports[port=80,protocol="${protocol}"]${name === protocol ? '' : `.${name}`}`;
}

describe('compareObjects()', () => {
  for (const { title, before, after, changed, removed = [] } of cases) {
    it(`finds ${title}`, () => {
      const found = compareObjects(serviceSchema, { ...before }, { ...after });
      assert.deepEqual(memberPaths(found.changed), changed);
      assert.deepEqual(memberPaths(found.removed), removed);
    });
  }
});

describe('fieldsOf()', () => {
  const applied = {
    apiVersion: 'v1',
    metadata: {
      name: 'a',
      labels: { a: '1' },
      annotations: {},
      finalizers: ['f'],
      ownerReferences: [],
    },
    spec: {
      ports: [{ port: 53 }, { port: 53, protocol: 'UDP', name: 'u' }],
      selector: { a: '1' },
      type: null,
    },
    status: {},
  };

  it('names leaves, keys, items, and structs only where they are empty', () => {
    assert.deepEqual(fieldsOf(serviceSchema, applied), {
      'f:apiVersion': {},
      'f:metadata': {
        'f:name': {},
        'f:labels': { 'f:a': {} },
        'f:annotations': {},
        'f:finalizers': { 'v:"f"': {} },
      },
      'f:spec': {
        'f:ports': {
          'k:{"port":53,"protocol":"TCP"}': { '.': {}, 'f:port': {} },
          'k:{"port":53,"protocol":"UDP"}': {
            '.': {},
            'f:port': {},
            'f:protocol': {},
            'f:name': {},
          },
        },
        'f:selector': {},
        'f:type': {},
      },
      'f:status': {},
    });
  });
});

describe('typedErrors()', () => {
  const spec = (value: object) => ({ spec: value });
  const errors: readonly (readonly [object: unknown, text: string])[] = [
    [spec({ ports: [{ port: 80 }], type: null }), ''],
    [spec({ foo: 1 }), '.spec.foo: field not declared in schema'],
    [
      spec({ ports: [{ port: '80' }] }),
      '.spec.ports[port="80",protocol="TCP"].port: expected numeric (int or float), got string',
    ],
    [spec({ selector: 'x' }), '.spec.selector: expected map, got &{x}'],
    [spec({ ports: {} }), '.spec.ports: expected list, got &{map[]}'],
    [
      spec({ ports: [{ port: 80 }, { port: 80, name: 'b' }] }),
      '.spec.ports: duplicate entries for key [port=80,protocol="TCP"]',
    ],
    [
      spec({ ports: ['x'] }),
      '.spec.ports: element 0: associative list with keys may not have non-map elements',
    ],
    [
      { metadata: { finalizers: [{}] } },
      ".metadata.finalizers: element 0: associative list without keys has an element that's a map type",
    ],
    [
      spec({ foo: 1, publishNotReadyAddresses: 'x' }),
      'errors:\n  .spec.foo: field not declared in schema\n  .spec.publishNotReadyAddresses: expected boolean, got &{x}',
    ],
  ];
  for (const [object, text] of errors) {
    it(`says ${text || 'nothing'}`, () => assert.equal(typedErrors(serviceSchema, object), text));
  }
});
