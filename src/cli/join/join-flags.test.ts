import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import { addJoinFlags, type JoinFlags, joinWish } from './join-flags.ts';

const token = 'abcdef.0123456789abcdef';
const pin = 'a'.repeat(64);
const rest = ['--token', token, '--discovery-token-ca-cert-hash', `sha256:${pin}`];

function wishOf(...argv: readonly string[]) {
  const quiet = { writeErr: () => {} };
  const command = addJoinFlags(new Command()).exitOverride().configureOutput(quiet);
  return joinWish(command.parse([...argv], { from: 'user' }).opts<JoinFlags>());
}

test('--join may be repeated: servers are asked in that order', () => {
  assert.deepEqual(wishOf('--join', 'https://a:1', '--join', 'https://b:2/', ...rest), {
    servers: ['https://a:1', 'https://b:2'],
    token,
    pins: [pin],
  });
});

test('without any of the flags nothing is to be joined', () => {
  assert.equal(wishOf(), undefined);
});

const refused: readonly (readonly [string, readonly string[], RegExp])[] = [
  ['a second server that is no address', ['--join', 'https://a:1', '--join', 'b', ...rest], /"b"/],
  ['a server without TLS', ['--join', 'http://a:1', ...rest], /https:/],
  ['a token without a server', rest, /--join with the address/],
  ['a server without a token', ['--join', 'https://a:1'], /--token is missing/],
  ['no hash', ['--join', 'https://a:1', '--token', token], /cert-hash is missing/],
];
for (const [title, argv, reason] of refused) {
  test(`joining refuses ${title}`, () => {
    assert.throws(() => wishOf(...argv), reason);
  });
}
