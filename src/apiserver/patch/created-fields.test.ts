import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deploymentDefinition } from '../../kinds/deployment/definition.ts';
import { serviceDefinition } from '../../kinds/service/definition.ts';
import type { JsonObject } from '../../schema/json-object.ts';
import type { StructNode } from '../../schema/node.ts';
import { compareObjects } from './compare-objects.ts';
import { createdFields } from './created-fields.ts';
import { type FieldSet, printFieldSet, withoutPath } from './fieldset.ts';
import { zeroObject } from './typed-value.ts';

const reset = [['status']];

/** Without remembering anything. */
function worked(schema: StructNode, object: JsonObject): FieldSet {
  const { changed } = compareObjects(schema, zeroObject(schema), object);
  return printFieldSet(reset.reduce(withoutPath, changed));
}

const port = (number: unknown, more: object = {}): object => ({ port: number, ...more });
const labelled = (labels: unknown): JsonObject => ({ metadata: { name: 'a', labels }, spec: {} });
const ports = (...list: readonly unknown[]): JsonObject => ({
  metadata: {},
  spec: { ports: list },
});
const proto: unknown = JSON.parse('{"__proto__":"x","constructor":"y"}');

const services: readonly JsonObject[] = [
  {},
  { kind: 'Service', apiVersion: 'v1' },
  { metadata: {} },
  { metadata: { name: 'a', uid: 'u', generation: 1 } },
  { metadata: { annotations: {} }, spec: {}, status: {} },
  { metadata: null, spec: null },
  labelled({}),
  labelled({ a: 'b' }),
  labelled({ a: 'c' }),
  labelled({ ab: 'b' }),
  labelled({ a: 'b', ab: 'b' }),
  labelled({ '1:a': 'b', '{': '}' }),
  labelled(proto),
  ports(),
  ports({}),
  ports(port(80)),
  ports(port('80')),
  ports(port(80, { protocol: 'UDP' })),
  ports(port(80, { protocol: 'TCP' })),
  ports(port(80), port(80)),
  ports(port(80), port(81)),
  ports(port(81), port(80)),
  ports(port({ odd: 1 })),
  ports(port('{"odd":1}')),
  ports('none'),
  { metadata: {}, spec: { selector: { a: 'b' }, type: 'ClusterIP' }, status: { loadBalancer: {} } },
  { metadata: {}, spec: { selector: { c: 'd' }, type: 'NodePort' } },
  { metadata: {}, spec: { ports: 'misfit', sessionAffinityConfig: { clientIP: {} } } },
  { unknown: { a: 1 }, spec: 'misfit' },
];

test('createdFields() finds for every form what comparing finds, also when it knows the form', () => {
  const { schema } = serviceDefinition;
  for (const round of ['new', 'known']) {
    for (const object of services) {
      const found = createdFields({ schema, object, reset });
      const wanted = JSON.stringify(worked(schema, object));
      assert.equal(JSON.stringify(found), wanted, `${round}: ${JSON.stringify(object)}`);
    }
  }
});

test('createdFields() tells zero values from others where Go always writes the field', () => {
  const { schema } = deploymentDefinition;
  const withTemplate = (template: object): JsonObject => ({ metadata: {}, spec: { template } });
  const objects = [{}, { metadata: {} }, { metadata: { labels: {} }, spec: { containers: null } }];
  for (const object of [...objects, ...objects].map(withTemplate)) {
    const found = createdFields({ schema, object, reset });
    assert.deepEqual(found, worked(schema, object), JSON.stringify(object));
  }
});

test('createdFields() gives objects of one form the very same set', () => {
  const { schema } = serviceDefinition;
  const [first, second] = [labelled({ a: 'b' }), labelled({ a: 'c' })].map((object) =>
    createdFields({ schema, object, reset }),
  );
  assert.equal(first, second);
});
