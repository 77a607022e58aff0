import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { decode } from '../../schema/decode.ts';
import { ingressClassDefinition } from '../ingress-class/definition.ts';
import type { IngressClass } from '../ingress-class/types.ts';
import { ingressDefinition } from './definition.ts';
import type { Ingress } from './types.ts';

const backend = { service: { name: 'web', port: { number: 80 } } };
const rule = (path: object, host = 'a.example') => ({
  rules: [{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend, ...path }] } }],
});

function ingress(spec: object, more: object = {}): Ingress {
  const raw = { metadata: { name: 'i', namespace: 'default' }, spec, ...more };
  return decode(ingressDefinition.schema, raw).object as Ingress;
}

const at = 'spec.rules[0].http.paths[0]';
const judged: readonly [string, object, readonly string[]][] = [
  ['good', rule({}), []],
  ['a default backend alone', { defaultBackend: backend }, []],
  ['a wildcard host', rule({}, '*.example.com'), []],
  [
    'nothing',
    {},
    ['spec: Invalid value: null: either `defaultBackend` or `rules` must be specified'],
  ],
  [
    'an address as host',
    rule({}, '10.0.0.1'),
    ['spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address'],
  ],
  [
    'no path type',
    rule({ pathType: null }),
    [`${at}.pathType: Required value: pathType must be specified`],
  ],
  [
    'unknown path type',
    rule({ pathType: 'Foo' }),
    [
      `${at}.pathType: Unsupported value: "Foo": supported values: "Exact", "ImplementationSpecific", "Prefix"`,
    ],
  ],
  [
    'relative path',
    rule({ path: 'x' }),
    [`${at}.path: Invalid value: "x": must be an absolute path`],
  ],
  [
    'double slash',
    rule({ path: '/a//b' }),
    [`${at}.path: Invalid value: "/a//b": must not contain '//'`],
  ],
  [
    'backend without port',
    { defaultBackend: { service: { name: 'web' } } },
    ['spec.defaultBackend: Required value: port name or number is required'],
  ],
  [
    'backend of another kind without names',
    { defaultBackend: { resource: {} } },
    [
      'spec.defaultBackend.resource.kind: Required value: kind is required',
      'spec.defaultBackend.resource.name: Required value: name is required',
    ],
  ],
  [
    'backend of another kind with a path for a name',
    { defaultBackend: { resource: { kind: 'K', name: 'a/b' } } },
    [`spec.defaultBackend.resource.name: Invalid value: "a/b": may not contain '/'`],
  ],
  [
    'backend that is none',
    { defaultBackend: {} },
    ['spec.defaultBackend: Invalid value: "": resource or service backend is required'],
  ],
];

for (const [name, spec, wanted] of judged) {
  test(`validateIngressCreate() of: ${name}`, () => {
    const errors = ingressDefinition.create.validateCreate(ingress(spec));
    assert.deepEqual(errors.map(errorText), wanted);
  });
}

test('ingress columns show class, hosts, addresses and ports', () => {
  const hosts = ['a', 'b', 'c', 'd'].map((host) => ({ host }));
  const points = [{ hostname: 'lb.example' }, { ip: '10.0.0.1' }, { ip: '10.0.0.1' }];
  const status = { loadBalancer: { ingress: points } };
  const full = ingress({ ingressClassName: 'k', rules: hosts, tls: [{}] }, { status });
  const cells = (object: Ingress) =>
    ingressDefinition.columns.map((column) => column.cell(object, 0));
  assert.deepEqual(cells(full), [
    'i',
    'k',
    'a,b,c + 1 more...',
    '10.0.0.1,lb.example',
    '80, 443',
    '<unknown>',
  ]);
  assert.deepEqual(cells(ingress({})), ['i', '<none>', '*', '', '80', '<unknown>']);
  const hostCell = (...names: readonly string[]) =>
    cells(ingress({ rules: names.map((host) => ({ host })) }))[2];
  assert.equal(hostCell('a', '', 'b'), 'a,b');
  assert.equal(hostCell('a', '', 'b', 'c'), 'a,b,c');
  assert.equal(hostCell('a', 'b', 'c', ''), 'a,b,c + 1 more...');
  assert.equal(hostCell('a', '', 'b', 'c', 'd'), 'a,b,c + 2 more...');
});

test('ingressClassDefinition validates controller and parameters', () => {
  const make = (spec: object): IngressClass => {
    const { object } = decode(ingressClassDefinition.schema, { metadata: { name: 'c' }, spec });
    return ingressClassDefinition.defaults?.(object as IngressClass) as IngressClass;
  };
  const { validateCreate } = ingressClassDefinition.create;
  const good = make({
    controller: 'acme.io/foo',
    parameters: { kind: 'K', name: 'n', apiGroup: 'g' },
  });
  assert.equal(good.spec.parameters?.scope, 'Cluster');
  assert.deepEqual(validateCreate(good), []);
  assert.equal(ingressClassDefinition.columns[2]?.cell(good, 0), 'K.g/n');
  assert.deepEqual(validateCreate(make({})).map(errorText), ['spec.controller: Required value']);
  const other = ingressClassDefinition.update.validateUpdate(
    good,
    make({ controller: 'acme.io/bar' }),
  );
  assert.deepEqual(other.map(errorText), [
    'spec.controller: Invalid value: "acme.io/bar": field is immutable',
  ]);
});

test('validateIngressCreate() compares the class with its annotation', () => {
  const annotations = { 'kubernetes.io/ingress.class': 'a' };
  const texts = (ingressClassName: string) => {
    const metadata = { name: 'i', namespace: 'default', annotations };
    const made = ingress({ defaultBackend: backend, ingressClassName }, { metadata });
    return ingressDefinition.create.validateCreate(made).map(errorText);
  };
  assert.deepEqual(texts('a'), []);
  assert.deepEqual(texts('b'), [
    'annotations.kubernetes.io/ingress.class: Invalid value: "a": must match `ingressClassName` when both are specified',
  ]);
});

test('the status of an ingress accepts stored addresses that are not canonical', () => {
  const rules = ingressDefinition.subresources?.find(({ name }) => name === 'status')?.rules;
  const status = { loadBalancer: { ingress: [{ ip: '010.1.0.1' }] } };
  const loose = ingress({}, { status });
  assert.deepEqual(rules?.validateUpdate(loose, loose), []);
  assert.equal(rules?.validateUpdate(ingress({}), loose).length, 1);
});

test('ingressClassDefinition validates scope and namespace of parameters', () => {
  const texts = (parameters: object) => {
    const spec = { controller: 'a.b/c', parameters: { kind: 'K', name: 'n', ...parameters } };
    const { object } = decode(ingressClassDefinition.schema, { metadata: { name: 'c' }, spec });
    return ingressClassDefinition.create.validateCreate(object as IngressClass).map(errorText);
  };
  const at = 'spec.parameters';
  assert.deepEqual(texts({ scope: '' }), [
    `${at}.scope: Unsupported value: "": supported values: "Cluster", "Namespace"`,
  ]);
  assert.deepEqual(texts({ scope: 'Namespace' }), [
    `${at}.namespace: Required value: \`parameters.scope\` is set to 'Namespace'`,
  ]);
  assert.match(texts({ scope: 'Namespace', namespace: '' })[0] ?? '', /Invalid value: ""/);
});

test('ingressDefinition warns about the class annotation and addresses that are not canonical (API-66)', () => {
  const { create, subresources } = ingressDefinition;
  const annotation = 'kubernetes.io/ingress.class';
  const plain = ingress({});
  const marked = { ...plain, metadata: { ...plain.metadata, annotations: { [annotation]: 'x' } } };
  assert.deepEqual(create.warnOnCreate?.(plain), []);
  assert.deepEqual(create.warnOnCreate?.(marked), [
    `annotation "${annotation}" is deprecated, please use 'spec.ingressClassName' instead`,
  ]);
  const after = { ...plain, status: { loadBalancer: { ingress: [{ ip: 'FD00::1' }] } } };
  assert.deepEqual(subresources?.[0]?.rules?.warnOnUpdate?.(plain, after), [
    'status.loadBalancer.ingress[0]: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")',
  ]);
});
