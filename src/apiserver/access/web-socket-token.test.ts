import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiRequest } from '../message.ts';
import { webSocketToken, withoutToken } from './web-socket-token.ts';

const token = `base64url.bearer.authorization.k8s.io.${Buffer.from('secret').toString('base64url')}`;

function ask(protocols: string | undefined, upgrade: string | undefined): ApiRequest {
  return {
    method: 'GET',
    path: '/',
    query: new URLSearchParams(),
    headers: { upgrade, 'sec-websocket-protocol': protocols },
    body: () => Promise.resolve(new Uint8Array()),
    peer: {},
    signal: () => new AbortController().signal,
  };
}

const cases: readonly (readonly [string, string | undefined, string | undefined, unknown])[] = [
  ['beside a protocol', `v4.channel.k8s.io, ${token}`, 'websocket', 'secret'],
  ['alone, which is no good', token, 'websocket', ''],
  ['twice, which is no good', `a, ${token}, ${token}`, 'websocket', ''],
  ['with letters that are none of its own', `a, ${token}=`, 'websocket', ''],
  ['not on another kind of connection', `a, ${token}`, 'SPDY/3.1', undefined],
  ['not where there is none', 'a', 'websocket', undefined],
  ['not where there are no protocols', undefined, 'websocket', undefined],
];
for (const [name, protocols, upgrade, expected] of cases) {
  test(`webSocketToken() finds a token ${name}`, () => {
    assert.equal(webSocketToken(ask(protocols, upgrade)), expected);
  });
}

test('withoutToken() passes the other protocols on', () => {
  assert.equal(withoutToken(`a,${token}, b`), 'a, b');
});
