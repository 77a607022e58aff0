import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Decoded, decode as decodeAtOnce, decodeSteps, strictProblems } from './decode.ts';
import * as s from './node.ts';

/** Large objects are decoded in steps, with the same outcome. */
function decode(...given: Parameters<typeof decodeAtOnce>): Decoded {
  const decoded = decodeAtOnce(...given);
  const steps = decodeSteps(...given);
  let last = steps.next();
  while (!last.done) last = steps.next();
  assert.deepEqual(last.value, decoded);
  return decoded;
}

const port = s.struct('ServicePort', {
  name: s.string(),
  protocol: s.string('', { goType: 'v1.Protocol' }),
  port: s.always(s.int32()),
  targetPort: s.intOrString(),
});

const schema = s.struct('Service', {
  kind: s.string(),
  metadata: s.struct('ObjectMeta', {
    name: s.string(),
    generation: s.int64(),
    creationTimestamp: s.pointer(s.time()),
    labels: s.map(s.string()),
  }),
  spec: s.struct('ServiceSpec', {
    ports: s.list(port),
    selector: s.map(s.string()),
    clusterIPs: s.list(s.string()),
    publishNotReadyAddresses: s.boolean(),
    weight: s.double(),
    replicas: s.pointer(s.int32()),
    policy: s.pointer(s.string()),
    config: s.pointer(s.struct('Config', { on: s.boolean(), always: s.always(s.boolean()) })),
    renewTime: s.pointer(s.microTime()),
    capacity: s.map(s.quantity()),
    binaryData: s.map(s.bytes()),
    free: s.any(),
    endpoints: s.always(s.list(port)),
    extra: s.always(s.map(s.string())),
    reason: s.always(s.string()),
    seen: s.always(s.time()),
  }),
});

const zeroSpec = { endpoints: null, extra: null, reason: '', seen: null };
const spec = (fields: object): object => ({ spec: fields });
const specOf = (fields: object): unknown => decode(schema, spec(fields)).object.spec;

test('decode() writes unset structs, and zero values of fields that are always written', () => {
  assert.deepEqual(decode(schema, {}), {
    object: { metadata: {}, spec: zeroSpec },
    problems: { unknown: [] },
  });
  assert.deepEqual(decode(schema, null).object, { metadata: {}, spec: zeroSpec });
});

test('decode() writes fields in schema order, and map keys sorted', () => {
  const given = {
    spec: { selector: { b: '1', a: '2' }, ports: [{ port: 1, name: 'x' }] },
    kind: 'A',
  };
  assert.equal(
    JSON.stringify(decode(schema, given).object),
    '{"kind":"A","metadata":{},"spec":{"ports":[{"name":"x","port":1}],"selector":{"a":"2","b":"1"},"endpoints":null,"extra":null,"reason":"","seen":null}}',
  );
});

const presence: readonly (readonly [string, object, object])[] = [
  [
    'zero values are left out',
    { selector: {}, clusterIPs: [], publishNotReadyAddresses: false },
    {},
  ],
  ['null is absent', { selector: null, ports: null, replicas: null, config: null }, {}],
  ['pointers keep zero values', { replicas: 0, policy: '' }, { replicas: 0, policy: '' }],
  ['pointers keep empty structs', { config: {} }, { config: { always: false } }],
  ['lists and maps that are always written read null when empty', { endpoints: [], extra: {} }, {}],
  [
    'values are kept',
    { weight: 1.5, reason: 'x', free: { a: [] } },
    { weight: 1.5, reason: 'x', free: { a: [] } },
  ],
  ['null in a list of structs is a zero struct', { ports: [null] }, { ports: [{ port: 0 }] }],
  ['null in a list of strings is empty', { clusterIPs: [null] }, { clusterIPs: [''] }],
  ['null in a map is the zero value', { selector: { a: null } }, { selector: { a: '' } }],
  [
    'zero target ports are left out',
    { ports: [{ port: 1, targetPort: 0 }] },
    { ports: [{ port: 1 }] },
  ],
  [
    'target ports are numbers or strings',
    {
      ports: [
        { port: 1, targetPort: 'http' },
        { port: 2, targetPort: 80 },
      ],
    },
    {
      ports: [
        { port: 1, targetPort: 'http' },
        { port: 2, targetPort: 80 },
      ],
    },
  ],
  [
    'quantities are canonical',
    { capacity: { cpu: '2000m', memory: '1024Mi', pods: 110, none: null } },
    { capacity: { cpu: '2', memory: '1Gi', pods: '110', none: '0' } },
  ],
  [
    'times are in whole seconds and UTC',
    { seen: '2026-01-02T05:04:05.9+02:00' },
    { seen: '2026-01-02T03:04:05Z' },
  ],
  [
    'micro times have six decimals',
    { renewTime: '2026-01-02T05:04:05.000010+02:00' },
    { renewTime: '2026-01-02T03:04:05.000010Z' },
  ],
  [
    'bytes are canonical base64',
    { binaryData: { a: 'aGV\nsbG8=' } },
    { binaryData: { a: 'aGVsbG8=' } },
  ],
];

for (const [name, given, expected] of presence) {
  test(`decode(): ${name}`, () => {
    assert.deepEqual(specOf(given), { ...zeroSpec, ...expected });
    assert.equal(decode(schema, spec(given)).error, undefined);
  });
}

test('decode() sorts maps with converted values', () => {
  const object = decode(schema, spec({ capacity: { pods: 110, cpu: '2000m' } })).object;
  assert.ok(JSON.stringify(object).includes('"capacity":{"cpu":"2","pods":"110"}'));
});

test('decode() keeps map keys that are special in JavaScript', () => {
  const raw: unknown = JSON.parse(
    '{"spec":{"selector":{"__proto__":"x"},"capacity":{"__proto__":"1000m"}}}',
  );
  const { object } = decode(schema, raw);
  assert.equal(
    JSON.stringify(object.spec),
    '{"selector":{"__proto__":"x"},"capacity":{"__proto__":"1"},"endpoints":null,"extra":null,"reason":"","seen":null}',
  );
});

const unknownFields: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'in the order of the document',
    '{"metadata":{"zed":1},"foo":1,"spec":{"ports":[{"port":1},{"prot":"TCP"}],"selecter":{}}}',
    ['metadata.zed', 'foo', 'spec.ports[1].prot', 'spec.selecter'],
  ],
  ['that differ in case', '{"Kind":"A","spec":{"Ports":[]}}', ['Kind', 'spec.Ports']],
  ['but not below an unknown one', '{"foo":{"bar":1}}', ['foo']],
  ['even when null', '{"foo":null}', ['foo']],
  [
    'that are called like prototypes',
    '{"__proto__":{"a":1},"constructor":1}',
    ['__proto__', 'constructor'],
  ],
];

for (const [name, text, expected] of unknownFields) {
  test(`decode() reports unknown fields ${name}`, () => {
    const decoded = decode(schema, JSON.parse(text));
    assert.deepEqual(decoded.problems.unknown, expected);
    assert.equal(decoded.error, undefined);
  });
}

test('strictProblems() reports unknown and duplicate fields in document order, each once', () => {
  const text =
    '{"kind":"A","spec":{"foo":1,"foo":2,"reason":"a","reason":"b"},"bar":1,"metadata":{"labels":{"a":"1","a":"2","a":"3"}}}';
  assert.deepEqual(strictProblems(schema, text), [
    'unknown field "spec.foo"',
    'duplicate field "spec.reason"',
    'unknown field "bar"',
    'duplicate field "metadata.labels.a"',
  ]);
});

const into = (found: string, field: string, type: string): string =>
  `json: cannot unmarshal ${found} into Go struct field ${field} of type ${type}`;

const mismatches: readonly (readonly [string, string, string])[] = [
  [
    'a string for a number',
    '{"spec":{"ports":[{"port":"80"}]}}',
    into('string', 'ServicePort.spec.ports.port', 'int32'),
  ],
  [
    'a fraction',
    '{"spec":{"ports":[{"port":80.5}]}}',
    into('number 80.5', 'ServicePort.spec.ports.port', 'int32'),
  ],
  [
    'a fraction that is whole',
    '{"spec":{"ports":[{"port":80.0}]}}',
    into('number 80.0', 'ServicePort.spec.ports.port', 'int32'),
  ],
  [
    'an exponent',
    '{"spec":{"ports":[{"port": 8e1}]}}',
    into('number 8e1', 'ServicePort.spec.ports.port', 'int32'),
  ],
  [
    'more than 32 bits',
    '{"spec":{"ports":[{"port":99999999999}]}}',
    into('number 99999999999', 'ServicePort.spec.ports.port', 'int32'),
  ],
  [
    'more than 64 bits',
    '{"metadata":{"generation":123456789012345678901234567890}}',
    into('number 123456789012345678901234567890', 'ObjectMeta.metadata.generation', 'int64'),
  ],
  [
    'a number for a string',
    '{"spec":{"ports":[{"name":5}]}}',
    into('number', 'ServicePort.spec.ports.name', 'string'),
  ],
  [
    'a number for a named string',
    '{"spec":{"ports":[{"protocol":5}]}}',
    into('number', 'ServicePort.spec.ports.protocol', 'v1.Protocol'),
  ],
  [
    'a bool for a target port',
    '{"spec":{"ports":[{"targetPort":true}]}}',
    into('bool', 'ServicePort.spec.ports.targetPort', 'int32'),
  ],
  [
    'a fraction for a target port',
    '{"spec":{"ports":[{"targetPort":80.5}]}}',
    into('number 80.5', 'ServicePort.spec.ports.targetPort', 'int32'),
  ],
  [
    'an object for a list',
    '{"spec":{"ports":{}}}',
    into('object', 'ServiceSpec.spec.ports', '[]v1.ServicePort'),
  ],
  [
    'a string in a list of structs',
    '{"spec":{"ports":["a"]}}',
    into('string', 'ServiceSpec.spec.ports', 'v1.ServicePort'),
  ],
  [
    'a list for a map',
    '{"spec":{"selector":["a"]}}',
    into('array', 'ServiceSpec.spec.selector', 'map[string]string'),
  ],
  [
    'a number in a map',
    '{"metadata":{"labels":{"a":1}}}',
    into('number', 'ObjectMeta.metadata.labels', 'string'),
  ],
  ['a string for a struct', '{"spec":"x"}', into('string', 'Service.spec', 'v1.ServiceSpec')],
  [
    'a string for a bool',
    '{"spec":{"publishNotReadyAddresses":"true"}}',
    into('string', 'ServiceSpec.spec.publishNotReadyAddresses', 'bool'),
  ],
  ['a number for a time', '{"spec":{"seen":5}}', into('number', 'ServiceSpec.spec.seen', 'string')],
  [
    'a number for bytes',
    '{"spec":{"binaryData":{"a":5}}}',
    into('number', 'ServiceSpec.spec.binaryData', '[]uint8'),
  ],
  ['bad base64', '{"spec":{"binaryData":{"a":"###"}}}', 'illegal base64 data at input byte 0'],
  [
    'base64 cut short',
    '{"spec":{"binaryData":{"a":"aGVsbG"}}}',
    'illegal base64 data at input byte 4',
  ],
  [
    'a bad quantity',
    '{"spec":{"capacity":{"cpu":"abc"}}}',
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  ],
  [
    'a bad time',
    '{"metadata":{"creationTimestamp":"x"}}',
    'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
  ],
  ['a list at the top', '[]', 'json: cannot unmarshal array into Go value of type v1.Service'],
  [
    'the first in the document',
    '{"spec":{"ports":[{"port":"x","name":5}],"weight":"y"}}',
    into('string', 'ServicePort.spec.ports.port', 'int32'),
  ],
  [
    'a type with its own decoder even after another',
    '{"spec":{"reason":5,"ports":[{"targetPort":{}}]}}',
    into('object', 'ServicePort.spec.ports.targetPort', 'int32'),
  ],
];

for (const [name, text, expected] of mismatches) {
  test(`decode() refuses ${name} in Go's words`, () =>
    assert.equal(decode(schema, JSON.parse(text), text).error, expected));
}

test('decode() finds mismatches without the text, too', () => {
  assert.equal(
    decode(schema, { spec: { ports: [{ port: 80.5 }] } }).error,
    into('number 80.5', 'ServicePort.spec.ports.port', 'int32'),
  );
});

test('decode() ignores numbers inside strings', () => {
  const text = '{"metadata":{"labels":{"a":"x: 1.5, 2e3"}}}';
  assert.equal(decode(schema, JSON.parse(text), text).error, undefined);
});

test('decode() of a recursive schema', () => {
  const fields: Record<string, s.Schema> = { name: s.string() };
  const tree = s.struct('Tree', fields);
  fields.children = s.list(tree);
  const given = { name: 'a', children: [{ name: 'b', children: [{ name: 'c' }] }] };
  assert.deepEqual(decode(tree, given).object, given);
});

test('decode() survives nesting deeper than the call stack', () => {
  const deep = `${'{"a":['.repeat(4000)}1${']}'.repeat(4000)}`;
  const text = `{"foo":${deep},"bar":1}`;
  const raw: unknown = JSON.parse(text);
  assert.deepEqual(decode(schema, raw).problems.unknown, ['foo', 'bar']);
  assert.deepEqual(strictProblems(schema, text), ['unknown field "foo"', 'unknown field "bar"']);
});

test('decode() reuses parts of a decoded object', () => {
  const known = decode(schema, { metadata: { name: 'a' }, ...spec({ ports: [{ port: 80 }] }) });
  const raw = { ...known.object, metadata: { name: 'b' } };
  const { object } = decode(schema, raw, undefined, known.object);
  assert.equal(object.spec, known.object.spec);
  assert.deepEqual(object, { metadata: { name: 'b' }, spec: known.object.spec });
});

test('decode() decodes changed parts of a decoded object', () => {
  const known = decode(schema, spec({ ports: [{ port: 80 }], selector: { a: 'b' } })).object;
  const changed = { ...(known.spec as object), ports: [{ port: 'x' }] };
  const { error } = decode(schema, { ...known, spec: changed }, undefined, known);
  assert.match(
    error ?? '',
    /cannot unmarshal string into Go struct field ServicePort\.spec\.ports\.port/,
  );
});
