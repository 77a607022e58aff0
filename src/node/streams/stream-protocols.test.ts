import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  chooseProtocol,
  offeredProtocols,
  spdyCommands,
  webSocketCommands,
  webSocketForwards,
} from './stream-protocols.ts';

const kubectl = ['v5.channel.k8s.io', 'v4.channel.k8s.io', 'v3.channel.k8s.io'];
const cases = [
  ['kubectl over SPDY', kubectl, spdyCommands, 'v4.channel.k8s.io'],
  ['a client over WebSocket', kubectl, webSocketCommands, 'v5.channel.k8s.io'],
  ['port-forward, which has no v5', kubectl, webSocketForwards, 'v4.channel.k8s.io'],
  ['the oldest over SPDY', ['channel.k8s.io'], spdyCommands, 'channel.k8s.io'],
  ['none over WebSocket', [], webSocketCommands, ''],
  ['none over SPDY', [], spdyCommands, undefined],
  ['an unknown one', ['v9.channel.k8s.io'], webSocketCommands, undefined],
] as const;
for (const [name, offered, known, expected] of cases) {
  test(`chooseProtocol() for ${name}`, () => {
    assert.equal(chooseProtocol(offered, known)?.name, expected);
  });
}

test('offeredProtocols() reads repeated headers and lists', () => {
  assert.deepEqual(offeredProtocols(['a, b', 'c']), ['a', 'b', 'c']);
  assert.deepEqual(offeredProtocols(undefined), []);
});
