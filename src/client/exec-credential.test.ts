import assert from 'node:assert/strict';
import { test } from 'node:test';
import { execInfo, parseExecCredential } from './exec-credential.ts';
import type { ExecPlugin } from './kubeconfig-user.ts';

const apiVersion = 'client.authentication.k8s.io/v1';
const plugin: ExecPlugin = {
  ...{ apiVersion, command: 'login', args: [], env: {} },
  ...{ interactiveMode: 'Never', provideClusterInfo: false },
};
const connection = {
  ...{ server: 'https://api', namespace: 'default', skipTlsVerification: true },
  ...{ certificateAuthority: 'CA', tlsServerName: 'name', proxyUrl: 'http://p' },
};

test('execInfo() tells the version, and nothing of the cluster unless it is to', () => {
  assert.deepEqual(JSON.parse(execInfo(plugin, connection, true)), {
    ...{ kind: 'ExecCredential', apiVersion },
    spec: { interactive: true },
  });
});

test('execInfo() tells of the cluster on request', () => {
  const wanting = { ...plugin, provideClusterInfo: true, clusterConfig: { audience: 'a' } };
  assert.deepEqual(JSON.parse(execInfo(wanting, connection, false)).spec, {
    interactive: false,
    cluster: {
      ...{ server: 'https://api', 'tls-server-name': 'name', 'insecure-skip-tls-verify': true },
      ...{ 'certificate-authority-data': 'Q0E=', 'proxy-url': 'http://p' },
      config: { audience: 'a' },
    },
  });
});

const credential = (status: unknown, more: object = {}): string =>
  JSON.stringify({ kind: 'ExecCredential', apiVersion, status, ...more });

test('parseExecCredential() reads a token with its expiry, a certificate, or both', () => {
  const expirationTimestamp = '1970-01-01T00:00:05.5Z';
  assert.deepEqual(
    parseExecCredential(credential({ token: 'abc\n', expirationTimestamp }), apiVersion),
    { token: 'abc', expiresAt: 5500 },
  );
  const pair = { clientCertificateData: 'C', clientKeyData: 'K' };
  assert.deepEqual(parseExecCredential(credential({ ...pair, token: 't' }), apiVersion), {
    ...{ token: 't', clientCertificate: 'C', clientKey: 'K' },
  });
  assert.deepEqual(
    parseExecCredential(credential({ ...pair, expirationTimestamp: null }), apiVersion),
    { clientCertificate: 'C', clientKey: 'K' },
  );
});

const refused: readonly (readonly [string, string, RegExp])[] = [
  ['nothing', ' \n', /^it printed nothing$/],
  ['no JSON', 'secret', /^it printed no JSON object$/],
  ['a list', '[]', /no JSON object/],
  ['another kind', '{"kind":"Secret"}', /no ExecCredential$/],
  ['another version', credential({}, { apiVersion: 'v1' }), /of version "v1", want client/],
  ['no status', credential(undefined), /without a status/],
  ['no credentials', credential({}), /neither a token nor/],
  ['a lone certificate', credential({ clientCertificateData: 'C' }), /without its key/],
  ['a lone key', credential({ clientKeyData: 'K', token: 't' }), /a key alone/],
  ['a token of two lines', credential({ token: 'secret\nx' }), /a token with characters/],
  ['no time', credential({ token: 't', expirationTimestamp: 'soon' }), /is no time/],
  ['a number as time', credential({ token: 't', expirationTimestamp: 1 }), /is no time/],
];
for (const [what, text, why] of refused) {
  test(`parseExecCredential() refuses ${what}, and does not repeat it`, () => {
    assert.throws(
      () => parseExecCredential(text, apiVersion),
      (error) => why.test((error as Error).message) && !/secret/.test((error as Error).message),
    );
  });
}
