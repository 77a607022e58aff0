import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpointSliceDefinition } from '../../kinds/endpoint-slice/definition.ts';
import { serviceDefinition } from '../../kinds/service/definition.ts';
import { exampleService } from '../../kinds/service/example.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { Cached } from './resource-cache.ts';
import { createCodec, resourceOfKey } from './stored-object.ts';

const codec = createCodec(serviceDefinition);
const service = exampleService({ metadata: { name: 'web', namespace: 'a', uid: 'u' } });
const key = codec.key('a', 'web');
const text = ({ json }: Cached): string => json.toString('utf8');

test('key() holds group, namespace and name', () => {
  const slices = createCodec(endpointSliceDefinition);
  assert.equal(codec.prefix, '/registry/services/');
  assert.equal(codec.key('a', 'web'), '/registry/services/a/web');
  assert.equal(codec.key('a', ''), '/registry/services/a/');
  assert.equal(codec.key('', 'web'), '/registry/services/web');
  assert.equal(slices.key('a', 'b'), '/registry/endpointslices.discovery.k8s.io/a/b');
});

test('resourceOfKey() takes the resource back out', () => {
  assert.equal(resourceOfKey('/registry/services/a/web'), 'services');
  assert.equal(resourceOfKey('/registry/nodeports/30000'), 'nodeports');
});

test('toValue() leaves the version out and starts with what the object is', () => {
  const metadata = { ...service.metadata, resourceVersion: '9' };
  const value = Buffer.from(codec.toValue({ ...service, metadata })).toString('utf8');
  assert.ok(value.startsWith('{"kind":"Service","apiVersion":"v1","metadata":{"name":"web",'));
  assert.ok(!value.includes('resourceVersion'));
});

test('toValue() writes metadata in the order of its schema', () => {
  const metadata = { labels: { a: 'b' }, generation: 2, uid: 'u', namespace: 'a', name: 'web' };
  const value = Buffer.from(codec.toValue({ ...service, metadata })).toString('utf8');
  assert.ok(
    value.includes(
      '"metadata":{"name":"web","namespace":"a","uid":"u","generation":2,"labels":{"a":"b"}}',
    ),
    value,
  );
});

test('encode() puts the version into bytes and object alike', () => {
  const cached = codec.encode(key, codec.toValue(service), service, 12);
  // Where Kubernetes writes it: people read the bytes with `kubectl get --raw`.
  assert.ok(
    text(cached).startsWith(
      '{"kind":"Service","apiVersion":"v1","metadata":{"name":"web","namespace":"a","uid":"u","resourceVersion":"12"',
    ),
  );
  assert.deepEqual(JSON.parse(text(cached)), cached.object);
  assert.equal(cached.object.metadata.resourceVersion, '12');
  assert.equal(cached.revision, 12);
  assert.equal(text(cached).slice(0, cached.prefixLength), '{"kind":"Service","apiVersion":"v1",');
});

test('the bytes of an object hold no other memory', () => {
  const value = Buffer.from(codec.toValue(service));
  for (const { json } of [codec.encode(key, value, service, 12), codec.fromValue(key, value, 12)]) {
    assert.equal(json.buffer.byteLength, json.byteLength);
  }
});

test('an object that was dropped is read again, once for all who look at it', () => {
  const cached = codec.encode(key, codec.toValue(service), service, 12);
  const before = cached.object;
  cached.dropObject();
  const after = cached.object;
  assert.notEqual(after, before);
  assert.deepEqual(after, before);
  assert.equal(cached.object, after);
});

test('encode() gives what was never written no version', () => {
  const cached = codec.encode(key, codec.toValue(service), service, 0);
  assert.ok(!text(cached).includes('resourceVersion'));
  assert.equal(cached.object.metadata.resourceVersion, undefined);
});

test('fromValue() is what encode() made', () => {
  const value = codec.toValue(service);
  const [read, made] = [codec.fromValue(key, value, 5), codec.encode(key, value, service, 5)];
  assert.equal(text(read), text(made));
  assert.deepEqual(read.object, made.object);
  assert.equal(read.object, read.object);
  assert.equal(made.object, made.object);
});

test('put() writes the value and lets the object travel with it', () => {
  const write = codec.put(key, service);
  assert.equal(write.put, key);
  assert.deepEqual(JSON.parse(Buffer.from(write.value).toString()), service);
  assert.equal(write.origin, service);
});

const texts = [
  '',
  'plain',
  'a "quote"',
  'back\\slash',
  'line\nfeed',
  'é日🙂',
  '\ud800',
  '\u2028',
  '\x7f',
];

test('toValue() writes metadata as JSON.stringify() does, whatever texts it holds', () => {
  for (const odd of texts) {
    const entry = { manager: odd, operation: 'Update', fieldsV1: { [`f:${odd}`]: {} } };
    const metadata = { name: odd, annotations: { [odd]: odd }, managedFields: [entry, {}] };
    const value = Buffer.from(codec.toValue({ ...service, metadata })).toString();
    assert.ok(value.includes(`"metadata":${JSON.stringify(metadata)},`), value);
  }
});

test('toValue() keeps what others wrote in place of managers', () => {
  for (const managedFields of [null, [], [null], 'x', {}]) {
    const metadata = { name: 'web', managedFields };
    const odd = JSON.stringify({ spec: {}, kind: 'Service', apiVersion: 'v1', metadata });
    const { json } = codec.fromValue(key, Buffer.from(odd), 1);
    assert.deepEqual(JSON.parse(json.toString()).metadata, { ...metadata, resourceVersion: '1' });
  }
});

test('fromValue() reads a view into a larger buffer', () => {
  const value = codec.toValue(service);
  const large = new Uint8Array(value.length + 20);
  large.set(value, 7);
  const part = large.subarray(7, 7 + value.length);
  const [found, whole] = [codec.fromValue(key, part, 5), codec.fromValue(key, value, 5)];
  assert.equal(text(found), text(whole));
  assert.deepEqual(found.object, whole.object);
});

const foreign: Readonly<Record<string, string>> = {
  'another order of keys':
    '{"spec":{"type":"ClusterIP"},"metadata":{"name":"web","uid":"u"},"apiVersion":"v1","kind":"Service"}',
  'apiVersion before kind':
    '{"apiVersion":"v1","kind":"Service","metadata":{"name":"web","uid":"u"},"spec":{"type":"ClusterIP"}}',
  'white space':
    '{ "kind": "Service", "apiVersion": "v1", "metadata": { "name": "web", "uid": "u" }, "spec": { "type": "ClusterIP" } }\n',
  'a version of its own':
    '{"apiVersion":"v1","kind":"Service","metadata":{"resourceVersion":"3","name":"web","uid":"u"},"spec":{"type":"ClusterIP"}}',
};

for (const [what, value] of Object.entries(foreign)) {
  test(`fromValue() brings values of other writers into our form: ${what}`, () => {
    const cached = codec.fromValue(key, Buffer.from(value), 8);
    assert.equal(
      text(cached),
      '{"kind":"Service","apiVersion":"v1","metadata":{"name":"web","uid":"u","resourceVersion":"8"},"spec":{"type":"ClusterIP"}}',
    );
    assert.equal(cached.object.metadata.resourceVersion, '8');
  });
}

const metadatas: Readonly<Record<string, readonly [stored: string, answered: string]>> = {
  'after generateName, namespace and uid': [
    '"name":"w-1","generateName":"w-","namespace":"a","uid":"u","labels":{"uid":"v"}',
    '"name":"w-1","generateName":"w-","namespace":"a","uid":"u","resourceVersion":"3","labels":{"uid":"v"}',
  ],
  'first without a uid of its own': [
    '"name":"w","ownerReferences":[{"uid":"o"}]',
    '"resourceVersion":"3","name":"w","ownerReferences":[{"uid":"o"}]',
  ],
  'first where the order is another': [
    '"labels":{"uid":"v"},"name":"w","uid":"u"',
    '"resourceVersion":"3","labels":{"uid":"v"},"name":"w","uid":"u"',
  ],
  'first where a name is odd': [
    '"name":"\\"w","uid":"u","labels":{}',
    '"resourceVersion":"3","name":"\\"w","uid":"u","labels":{}',
  ],
};

for (const [what, [stored, answered]] of Object.entries(metadatas)) {
  test(`the version comes ${what}`, () => {
    const whole = (metadata: string): string =>
      `{"kind":"Service","apiVersion":"v1","metadata":{${metadata}},"spec":{}}`;
    assert.equal(text(codec.fromValue(key, Buffer.from(whole(stored)), 3)), whole(answered));
  });
}

test('fromValue() keeps characters outside of ASCII', () => {
  const metadata = { ...service.metadata, annotations: { note: 'é日🙂' } };
  const cached = codec.fromValue(key, codec.toValue({ ...service, metadata }), 2);
  assert.deepEqual(JSON.parse(text(cached)), cached.object);
  assert.equal(cached.object.metadata.annotations?.note, 'é日🙂');
});

test('fromValue() completes what an earlier version stored, in object and bytes alike (API-61)', () => {
  const dual = createCodec(serviceDefinition, { families: ['IPv6', 'IPv4'] });
  const spec = { type: 'ClusterIP', clusterIP: 'None' } as const;
  const cached = dual.fromValue(key, codec.toValue({ ...service, spec } as KubeObject), 7);
  assert.deepEqual((cached.object as typeof service).spec, {
    ...spec,
    clusterIPs: ['None'],
    ipFamilies: ['IPv6', 'IPv4'],
    ipFamilyPolicy: 'RequireDualStack',
  });
  assert.deepEqual(JSON.parse(text(cached)), cached.object);
  assert.equal(cached.object.metadata.resourceVersion, '7');
});

test('fromValue() leaves the bytes of what has nothing to complete alone', () => {
  const spec = { externalName: 'example.com', type: 'ExternalName' } as const;
  // In an order that no writer of ours has.
  const stored = `{"kind":"Service","apiVersion":"v1","metadata":{"name":"web"},"status":{},"spec":${JSON.stringify(spec)}}`;
  const cached = codec.fromValue(key, Buffer.from(stored), 7);
  assert.ok(text(cached).endsWith(`"status":{},"spec":${JSON.stringify(spec)}}`), text(cached));
});
