import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeyedProvider, Provider } from './config.ts';
import { createTransformer, createTransformers } from './transformer.ts';

const plain = Buffer.from('{"kind":"Secret"}');
const path = '/registry/secrets/default/a';
const identity: Provider = { type: 'identity' };

const provider = (type: KeyedProvider['type'], ...names: string[]): Provider => ({
  type,
  keys: names.map((name) => ({ name, secret: Buffer.alloc(32, name) })),
});

function sealed(...providers: Provider[]): Uint8Array {
  const { seal } = createTransformer(providers);
  return seal === undefined ? plain : seal(plain, path);
}

for (const type of ['aescbc', 'aesgcm', 'secretbox'] as const) {
  test(`createTransformer() writes ${type} with the first key, and reads with all`, () => {
    const stored = sealed(provider(type, 'one', 'two'));
    assert.equal(
      Buffer.from(stored).toString('latin1').slice(0, `k8s:enc:${type}:v1:one:`.length),
      `k8s:enc:${type}:v1:one:`,
    );
    const open = (...providers: Provider[]) => {
      const { value, isStale } = createTransformer(providers).open(stored, path);
      return [Buffer.from(value).toString(), isStale];
    };
    const text = plain.toString();
    assert.deepEqual(open(provider(type, 'one')), [text, false]);
    assert.deepEqual(open(provider(type, 'two', 'one')), [text, true]);
    assert.deepEqual(open(provider(type, 'two'), provider(type, 'one')), [text, true]);
    assert.deepEqual(open(identity, provider(type, 'one')), [text, true]);
    const sameName: Provider = { type, keys: [{ name: 'one', secret: Buffer.alloc(32, 'x') }] };
    assert.deepEqual(open(sameName, provider(type, 'one')), [text, true]);
  });
}

test('createTransformer() reads what is not encrypted where identity is listed, and calls it stale behind another', () => {
  assert.equal(createTransformer([identity]).seal, undefined);
  assert.equal(createTransformer([identity]).open(plain, path).isStale, false);
  const { value, isStale } = createTransformer([provider('aescbc', 'one'), identity]).open(
    plain,
    path,
  );
  assert.deepEqual([value, isStale], [plain, true]);
});

const refusals: readonly [string, readonly Provider[], Uint8Array, string][] = [
  [
    'a key that is gone',
    [provider('aescbc', 'two')],
    sealed(provider('aescbc', 'one')),
    'no matching key was found for the provided AES transformer',
  ],
  [
    'a key of secretbox that is gone',
    [provider('secretbox', 'two')],
    sealed(provider('secretbox', 'one')),
    'no matching key was found for the provided Secretbox transformer',
  ],
  [
    'a provider that is gone',
    [provider('secretbox', 'one')],
    sealed(provider('aescbc', 'one')),
    'no matching prefix found',
  ],
  ['plain text without identity', [provider('aescbc', 'one')], plain, 'no matching prefix found'],
  [
    'no provider at all',
    [identity],
    sealed(provider('aescbc', 'one')),
    'identity transformer tried to read encrypted data',
  ],
  [
    'another key of the same name',
    [{ type: 'aesgcm', keys: [{ name: 'one', secret: Buffer.alloc(32, 'x') }] }],
    sealed(provider('aesgcm', 'one')),
    'cipher: message authentication failed',
  ],
];
for (const [name, providers, stored, message] of refusals) {
  test(`createTransformer() refuses ${name}`, () => {
    assert.throws(() => createTransformer(providers).open(stored, path), { message });
  });
}

test('createTransformer() never takes a changed ciphertext of aescbc for another object', () => {
  const { open } = createTransformer([provider('aescbc', 'one')]);
  const stored = sealed(provider('aescbc', 'one'));
  const start = 'k8s:enc:aescbc:v1:one:'.length + 16;
  for (let at = start; at < stored.length; at += 1) {
    const changed = Buffer.from(stored);
    changed[at] = (changed[at] ?? 0) ^ 0x80;
    assert.throws(() => open(changed, path), { name: 'Unreadable' });
  }
});

test('createTransformers() chooses by resource, then group, then everything', () => {
  const entry = (name: string, ...resources: string[]) => ({
    resources,
    providers: [provider('aescbc', name)],
  });
  const transformers = createTransformers({
    resources: [
      entry('exact', 'secrets', 'deployments.apps'),
      entry('core', '*.'),
      entry('apps', '*.apps'),
      entry('rest', '*.*'),
    ],
  });
  const keyOf = (resource: string): string =>
    Buffer.from(transformers(resource).seal?.(plain, path) ?? [])
      .toString('latin1')
      .split(':')[4] ?? '';
  assert.deepEqual(
    [
      'secrets',
      'configmaps',
      'deployments.apps',
      'replicasets.apps',
      'leases.coordination.k8s.io',
    ].map(keyOf),
    ['exact', 'core', 'exact', 'apps', 'rest'],
  );
  const few = createTransformers({ resources: [entry('exact', 'secrets')] });
  assert.equal(few('configmaps').seal, undefined);
});

const object = Buffer.from('{"kind":"Secret","metadata":{"name":"a","namespace":"default"}}');
const otherPaths = [
  '/registry/secrets/default/b',
  '/registry/secrets/other/a',
  '/registry/configmaps/default/a',
  '/registry/secrets/a',
];

for (const type of ['aescbc', 'aesgcm', 'secretbox'] as const) {
  test(`createTransformer() opens no value of ${type} that was moved to another key, cut or changed`, () => {
    const { seal, open } = createTransformer([provider(type, 'one')]);
    for (const prefix of ['', '/cluster/registry']) {
      const stored = seal?.(object, prefix + path) ?? object;
      assert.deepEqual(Buffer.from(open(stored, prefix + path).value), object);
      for (const other of otherPaths)
        assert.throws(() => open(stored, prefix + other), { name: 'Unreadable' }, other);
      const start = `k8s:enc:${type}:v1:one:`.length;
      for (let length = start; length < stored.length; length += 1)
        assert.throws(() => open(stored.subarray(0, length), prefix + path), {
          name: 'Unreadable',
        });
      // Of aescbc the first 16 bytes can be changed by the vector before them: they are no part of the content.
      for (let at = type === 'aescbc' ? start + 16 : start; at < stored.length; at += 1) {
        const changed = Buffer.from(stored);
        changed[at] = (changed[at] ?? 0) ^ 0x80;
        assert.throws(() => open(changed, prefix + path), { name: 'Unreadable' });
      }
    }
  });
}

test('createTransformer() opens what is kept beside objects under any key', () => {
  const { seal, open } = createTransformer([provider('secretbox', 'one')]);
  for (const text of ['{"ports":[1]}', 'no JSON', '[]', 'null']) {
    const stored = seal?.(Buffer.from(text), '/registry/nodeports/1') ?? object;
    assert.equal(Buffer.from(open(stored, '/registry/nodeports/2').value).toString(), text);
  }
});
