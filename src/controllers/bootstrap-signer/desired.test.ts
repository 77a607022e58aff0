import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigMap } from '../../kinds/config-map/types.ts';
import { type BootstrapUsage, bootstrapTokenSecret } from '../../kinds/secret/bootstrap-token.ts';
import type { Secret } from '../../kinds/secret/types.ts';
import { desiredClusterInfo } from './desired.ts';

const now = Date.parse('2026-01-02T03:04:05Z');
const mac = (secret: string, text: string): string => `${secret}(${text.length})`;

function token(
  id: string,
  expiration?: string,
  usages: readonly BootstrapUsage[] = ['signing'],
): Secret {
  const { stringData = {}, ...secret } = bootstrapTokenSecret({
    ...{ id, secret: '0123456789abcdef', usages, groups: [] },
    ...(expiration === undefined ? {} : { expiration }),
  });
  const data = Object.entries(stringData).map(([key, text]) => [
    key,
    Buffer.from(text).toString('base64'),
  ]);
  return { ...secret, data: Object.fromEntries(data) };
}

function info(data: Readonly<Record<string, string>>): ConfigMap {
  return { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'cluster-info' }, data };
}

test('desiredClusterInfo() signs with every token with usage signing, and removes other signatures', () => {
  const secrets = [
    token('aaaaaa'),
    token('bbbbbb', '2026-01-02T03:04:06Z'),
    token('cccccc', '2026-01-02T03:04:05Z'),
    token('dddddd', undefined, ['authentication']),
  ];
  const actual = info({ kubeconfig: 'text', more: 'kept', 'jws-kubeconfig-gone': 'x' });
  const wanted = desiredClusterInfo(actual, { secrets, now, mac });
  assert.ok(wanted);
  assert.deepEqual(Object.keys(wanted.data ?? {}), [
    'kubeconfig',
    'more',
    'jws-kubeconfig-aaaaaa',
    'jws-kubeconfig-bbbbbb',
  ]);
  const [header = '', body, signature] = (wanted.data?.['jws-kubeconfig-aaaaaa'] ?? '').split('.');
  assert.deepEqual(JSON.parse(Buffer.from(header, 'base64url').toString()), {
    alg: 'HS256',
    kid: 'aaaaaa',
  });
  assert.equal(body, '');
  const signed = `${header}.${Buffer.from('text').toString('base64url')}`;
  assert.equal(signature, `0123456789abcdef(${signed.length})`);
  assert.equal(desiredClusterInfo(wanted, { secrets, now, mac }), undefined);
});

test('desiredClusterInfo() does nothing without a kubeconfig', () => {
  const secrets = [token('aaaaaa')];
  assert.equal(desiredClusterInfo(info({ more: 'x' }), { secrets, now, mac }), undefined);
});
