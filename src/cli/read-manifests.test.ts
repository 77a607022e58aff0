import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseManifests } from './read-manifests.ts';

const names = (text: string): readonly string[] =>
  parseManifests(text, 'x.yaml').map(({ object }) => `${object.kind} ${object.metadata.name}`);

test('parseManifests() reads documents and lists, and leaves out empty ones', () => {
  assert.deepEqual(
    names(`
---
apiVersion: v1
kind: Service
metadata: {name: a}
---
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Secret, metadata: {name: b}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}
`),
    ['Service a', 'Secret b', 'ConfigMap c'],
  );
});

test('parseManifests() reads JSON', () => {
  assert.deepEqual(names('{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}'), ['Pod p']);
});

const refusals: readonly { name: string; text: string; why: RegExp }[] = [
  { name: 'text', text: 'hello', why: /an object is needed/ },
  { name: 'no kind', text: 'apiVersion: v1', why: /kind not set/ },
  { name: 'no version', text: 'kind: Pod', why: /apiVersion not set/ },
  { name: 'broken YAML', text: 'a: [', why: /error parsing x.yaml/ },
];
for (const { name, text, why } of refusals) {
  test(`parseManifests() refuses ${name}`, () => {
    assert.throws(() => parseManifests(text, 'x.yaml'), { message: why });
  });
}
