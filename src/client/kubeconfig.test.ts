import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeKubeconfigs, parseKubeconfig, resolveContext } from './kubeconfig.ts';
import { KubeconfigError } from './kubeconfig-error.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const config = `
apiVersion: v1
kind: Config
current-context: here
clusters:
- name: home
  cluster: {server: "https://127.0.0.1:6443/", certificate-authority-data: ${base64('CA')}}
- name: away
  cluster: {server: "https://example.com/k8s", certificate-authority: ca.pem, tls-server-name: api}
contexts:
- name: here
  context: {cluster: home, user: me, namespace: web}
- name: there
  context: {cluster: away, user: robot}
- name: broken
  context: {cluster: nowhere, user: me}
- name: clever
  context: {cluster: home, user: plugin}
users:
- name: me
  user: {client-certificate-data: ${base64('CERT')}, client-key-data: ${base64('KEY')}, client-key: ignored.pem}
- name: robot
  user: {token: secret}
- name: plugin
  user: {exec: {command: login}}
`;

test('resolveContext() reads the current context with inline data', () => {
  assert.deepEqual(resolveContext(parseKubeconfig(config)), {
    server: 'https://127.0.0.1:6443',
    namespace: 'web',
    certificateAuthority: { text: 'CA' },
    clientCertificate: { text: 'CERT' },
    clientKey: { text: 'KEY' },
    skipTlsVerification: false,
  });
});

test('resolveContext() reads a named context with file references', () => {
  assert.deepEqual(resolveContext(parseKubeconfig(config), 'there'), {
    server: 'https://example.com/k8s',
    namespace: 'default',
    certificateAuthority: { file: 'ca.pem' },
    token: { text: 'secret' },
    tlsServerName: 'api',
    skipTlsVerification: false,
  });
});

test('resolveContext() reads JSON, and uses the only context when none is current', () => {
  const json = JSON.stringify({
    clusters: [{ name: 'c', cluster: { server: 'http://x', 'insecure-skip-tls-verify': true } }],
    contexts: [{ name: 'only', context: { cluster: 'c' } }],
  });
  assert.deepEqual(resolveContext(parseKubeconfig(json)), {
    server: 'http://x',
    namespace: 'default',
    skipTlsVerification: true,
  });
});

const refusals: readonly { name: string; text: string; context?: string; why: RegExp }[] = [
  { name: 'a list', text: '[]', why: /must be a map/ },
  { name: 'broken YAML', text: 'a: [', why: /Cannot read the kubeconfig/ },
  { name: 'no contexts', text: '{}', why: /no current-context/ },
  {
    name: 'an unknown context',
    text: config,
    context: 'x',
    why: /context "x".*it has here, there, broken, clever/,
  },
  { name: 'an unknown cluster', text: config, context: 'broken', why: /cluster "nowhere"/ },
  { name: 'a plugin without a version', text: config, context: 'clever', why: /apiVersion is ""/ },
];
for (const { name, text, context, why } of refusals) {
  test(`resolveContext() refuses ${name}`, () => {
    assert.throws(
      () => resolveContext(parseKubeconfig(text), context),
      (error) => error instanceof KubeconfigError && why.test(error.message),
    );
  });
}

test('mergeKubeconfigs() lets the first file win', () => {
  const first = parseKubeconfig('clusters: [{name: c, cluster: {server: "http://first"}}]');
  const second = parseKubeconfig(`
current-context: x
clusters: [{name: c, cluster: {server: "http://second"}}]
contexts: [{name: x, context: {cluster: c}}]
`);
  assert.equal(resolveContext(mergeKubeconfigs([first, second])).server, 'http://first');
});

test('resolveContext() reads more servers of the cluster', () => {
  const { server, otherServers } = resolveContext(
    parseKubeconfig(`
clusters:
- name: c
  cluster:
    server: https://a:1
    extensions:
    - { name: fairlead.dev/other-servers, extension: { servers: [https://b:2/, https://c:3] } }
contexts: [{ name: x, context: { cluster: c } }]
`),
  );
  assert.deepEqual([server, otherServers], ['https://a:1', ['https://b:2', 'https://c:3']]);
});

const servers: readonly (readonly [string, string | RegExp])[] = [
  ['https://a:1/', 'https://a:1'],
  ['a:8080', 'http://a:8080'],
  ['ftp://a', /Cannot use the server "ftp:\/\/a"/],
  ['https://', /Cannot use the server "https:\/\/"/],
];
for (const [server, found] of servers) {
  test(`resolveContext() reads the server ${server}`, () => {
    const read = () =>
      resolveContext(
        parseKubeconfig(`
clusters: [{ name: c, cluster: { server: "${server}" } }]
contexts: [{ name: x, context: { cluster: c } }]
`),
      ).server;
    if (found instanceof RegExp) assert.throws(read, found);
    else assert.equal(read(), found);
  });
}

test('resolveContext() reads the proxy, and gives a plugin what the cluster has for it', () => {
  const { proxyUrl, exec } = resolveContext(
    parseKubeconfig(`
clusters:
- name: c
  cluster:
    server: https://a:1
    proxy-url: http://p:3128
    disable-compression: true
    extensions:
    - { name: client.authentication.k8s.io/exec, extension: { audience: a } }
    - { name: other, extension: [1] }
users:
- name: u
  user: { exec: { apiVersion: client.authentication.k8s.io/v1beta1, command: login } }
contexts: [{ name: x, context: { cluster: c, user: u, extensions: [{ name: any }] } }]
`),
  );
  assert.equal(proxyUrl, 'http://p:3128');
  assert.deepEqual(exec, {
    ...{ apiVersion: 'client.authentication.k8s.io/v1beta1', command: 'login', args: [], env: {} },
    ...{ interactiveMode: 'IfAvailable', provideClusterInfo: false },
    clusterConfig: { audience: 'a' },
  });
});
