import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Command } from 'commander';
import { addJoinFlags, type JoinFlags, joinRequest } from './join-flags.ts';

const token = 'abcdef.0123456789abcdef';
const pin = 'a'.repeat(64);
const rest = ['--token', token, '--discovery-token-ca-cert-hash', `sha256:${pin}`];

type Environment = { readonly directory?: string; readonly env?: Readonly<Record<string, string>> };

const requestOf = (...argv: readonly string[]) => requestIn({}, ...argv);

function requestIn({ directory = '', env = {} }: Environment, ...argv: readonly string[]) {
  const quiet = { writeErr: () => {} };
  const command = addJoinFlags(new Command()).exitOverride().configureOutput(quiet);
  const flags = command.parse([...argv], { from: 'user' }).opts<JoinFlags>();
  return joinRequest(flags, { cwd: () => directory, env });
}

test('joinRequest() has the servers of a repeated --join in their order', () => {
  assert.deepEqual(requestOf('--join', 'https://a:1', '--join', 'https://b:2/', ...rest), {
    servers: ['https://a:1', 'https://b:2'],
    token,
    pins: [pin],
  });
});

test('joinRequest() is undefined without any of the flags', () => {
  assert.equal(requestOf(), undefined);
});

const refused: readonly (readonly [string, readonly string[], RegExp])[] = [
  ['a second server that is not a URL', ['--join', 'https://a:1', '--join', 'b', ...rest], /"b"/],
  ['a server without TLS', ['--join', 'http://a:1', ...rest], /https:/],
  ['a token without a server', rest, /--join with the address/],
  ['a server without a token', ['--join', 'https://a:1'], /--token-file is missing/],
  ['no hash', ['--join', 'https://a:1', '--token', token], /cert-hash is missing/],
];
for (const [title, argv, reason] of refused) {
  test(`joinRequest() refuses ${title}`, () => {
    assert.throws(() => requestOf(...argv), reason);
  });
}

const toJoin = ['--join', 'https://a:1', '--discovery-token-ca-cert-hash', `sha256:${pin}`];

async function tokenIn(
  environment: Environment,
  ...argv: readonly string[]
): Promise<string | undefined> {
  const found = requestIn(environment, ...toJoin, ...argv)?.token;
  return typeof found === 'function' ? await found() : found;
}

test('joinRequest() reads a token file only when the token is needed', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'join-flags-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const tokenOf = (file: string) => tokenIn({ directory }, '--token-file', file);
  assert.equal(typeof requestOf(...toJoin, '--token-file', 'none')?.token, 'function');
  await assert.rejects(tokenOf('none'), /Cannot read a token from ".*none"/);
  writeFileSync(join(directory, 'good'), `${token}\nmore\n`);
  assert.equal(await tokenOf('good'), token);
  writeFileSync(join(directory, 'bad'), 's3cret');
  await assert.rejects(
    tokenOf('bad'),
    ({ message }: Error) => /has no bootstrap token/.test(message) && !message.includes('s3cret'),
  );
  writeFileSync(join(directory, 'empty'), '\n');
  await assert.rejects(tokenOf('empty'), /its first line is empty/);
});

test('joinRequest() reads a token from the environment', async () => {
  const env = { FAIRLEAD_TOKEN: token };
  assert.equal(await tokenIn({ env }), token);
  assert.equal(requestIn({ env }), undefined, 'the variable alone does not join');
  const wrong = { env: { FAIRLEAD_TOKEN: 's3cret' } };
  assert.throws(
    () => requestIn(wrong, ...toJoin),
    /the variable FAIRLEAD_TOKEN has no bootstrap token/,
  );
});

test('joinRequest() refuses both a token and a token file', () => {
  assert.throws(
    () => requestOf(...toJoin, '--token', token, '--token-file', 'f'),
    /mutually exclusive/,
  );
});
