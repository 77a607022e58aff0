// What kubeconfigs of real clusters have: exec plugins, passwords, impersonation, proxies. Real programs, and our API server behind them.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { issueClientCertificate } from '../../../src/apiserver/certificates/authority.ts';
import { callApi } from '../../../src/client/api-call.ts';
import { isInCluster, readInClusterConnection } from '../../../src/client/read-in-cluster.ts';
import { createRenewableTransport } from '../../../src/client/renewable-transport.ts';
import { type ClientFlags, withSession } from '../../../src/flags/client-flags.ts';
import { FailedError, type World } from '../../../src/flags/command.ts';
import { withConnection } from '../../../src/flags/open-connection.ts';
import { silentLog } from '../../../src/observe/log.ts';
import { silentWorld } from '../../lanes/silent-world.ts';
import { startMemoryServer, testCredentials } from '../harness/memory-server.ts';
import { startHttpProxy, startSocksProxy } from '../harness/proxies.ts';

const limit = { timeout: 60_000 };
const execVersion = 'client.authentication.k8s.io/v1';

type UserInfo = {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
};

async function startCluster(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-credentials-'));
  const path = (name: string): string => join(directory, name);
  writeFileSync(path('tokens.csv'), 'first,one,1,system:masters\nsecond,two,2,system:masters\n');
  let ahead = 0;
  const { api, server, stop } = await startMemoryServer({
    clock: { now: () => Date.now() + ahead },
    access: { tokens: { file: path('tokens.csv') } },
  });
  t.after(async () => {
    await stop();
    rmSync(directory, { recursive: true });
  });
  const { port } = server.address;
  const write = (name: string, text: string): string => {
    mkdirSync(dirname(path(name)), { recursive: true });
    writeFileSync(path(name), text);
    return path(name);
  };
  write('ca.crt', testCredentials().authority.certificate);
  return {
    ...{ api, path, port, write },
    /** An executable in the directory of the kubeconfig. */
    plugin(name: string, script: string): void {
      chmodSync(write(name, `#!/bin/sh\n${script}\n`), 0o700);
    },
    kubeconfig: (user: object, cluster: object = {}): string =>
      write(
        'kubeconfig',
        JSON.stringify({
          clusters: [
            {
              name: 'c',
              cluster: {
                server: `https://127.0.0.1:${port}`,
                'certificate-authority': 'ca.crt',
                ...cluster,
              },
            },
          ],
          users: [{ name: 'u', user }],
          contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
          'current-context': 'x',
        }),
      ),
    /** The server reads its token file every few seconds. */
    replaceTokens(text: string): void {
      write('tokens.csv', text);
      ahead += 10_000;
    },
  };
}

const printToken = (token: string): string =>
  `echo '{"kind":"ExecCredential","apiVersion":"${execVersion}","status":{"token":"${token}"}}'`;

const exec = (more: object = {}): object => ({
  exec: { apiVersion: execVersion, command: './login', interactiveMode: 'Never', ...more },
});

async function whoAmI(flags: ClientFlags, world: World = silentWorld): Promise<UserInfo> {
  return withSession(flags, world, async ({ caller }) => {
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const answer = await callApi(caller, { method: 'POST', path, body: {} });
    return (answer as { status: { userInfo: UserInfo } }).status.userInfo;
  });
}

const administrator = () => {
  const { administrator } = testCredentials();
  return {
    'client-certificate-data': Buffer.from(administrator.certificate).toString('base64'),
    'client-key-data': Buffer.from(administrator.privateKey).toString('base64'),
  };
};

test('a plugin beside the kubeconfig prints a token', limit, async (t) => {
  const { plugin, kubeconfig } = await startCluster(t);
  plugin('login', printToken('first'));
  const { username } = await whoAmI({ kubeconfig: kubeconfig(exec()) });
  assert.equal(username, 'one');
});

test('a plugin prints a client certificate, and gets the cluster', limit, async (t) => {
  const { plugin, kubeconfig, path, write } = await startCluster(t);
  const { authority } = testCredentials();
  const pair = issueClientCertificate(authority, {
    ...{ commonName: 'jane', organizations: ['dev'], days: 1, now: Date.now() },
  });
  const status = { clientCertificateData: pair.certificate, clientKeyData: pair.privateKey };
  write('answer', JSON.stringify({ kind: 'ExecCredential', apiVersion: execVersion, status }));
  plugin('login', `echo "$KUBERNETES_EXEC_INFO" > ${path('info')}; cat ${path('answer')}`);
  const extension = { audience: 'a' };
  const cluster = { extensions: [{ name: 'client.authentication.k8s.io/exec', extension }] };
  const user = exec({ provideClusterInfo: true });
  const { username, groups } = await whoAmI({ kubeconfig: kubeconfig(user, cluster) });
  assert.deepEqual([username, groups.includes('dev')], ['jane', true]);
  const { spec } = JSON.parse(readFileSync(path('info'), 'utf8'));
  assert.deepEqual(
    [spec.interactive, spec.cluster.config, spec.cluster['certificate-authority-data']],
    [false, extension, Buffer.from(authority.certificate).toString('base64')],
  );
});

test(
  'a long-running part runs the plugin again when the server refuses its token',
  limit,
  async (t) => {
    const { plugin, kubeconfig, path, write, replaceTokens } = await startCluster(t);
    write('token', 'first');
    plugin('login', printToken(`'"$(cat ${path('token')})"'`));
    const flags = { kubeconfig: kubeconfig(exec()) };
    await withConnection(flags, { world: silentWorld, log: silentLog }, async ({ transport }) => {
      const status = async (): Promise<number> => {
        const response = await transport.send({ method: 'GET', path: '/api/v1/namespaces' });
        for await (const _ of response.body);
        return response.status;
      };
      assert.equal(await status(), 200);
      write('token', 'second');
      replaceTokens('second,two,2,system:masters\n');
      while ((await status()) !== 200);
      assert.equal(await status(), 200);
    });
  },
);

test('a plugin that fails is one sentence, for commands and for parts', limit, async (t) => {
  const { plugin, kubeconfig } = await startCluster(t);
  plugin('login', 'exit 7');
  const flags = { kubeconfig: kubeconfig(exec()) };
  const why = /exec plugin "\/.*\/login" of the kubeconfig: it ended with exit code 7$/;
  await assert.rejects(
    whoAmI(flags),
    (error) => error instanceof FailedError && why.test(error.message),
  );
  await withConnection(flags, { world: silentWorld, log: silentLog }, async ({ transport }) => {
    await assert.rejects(transport.send({ method: 'GET', path: '/api' }), why);
  });
});

test('a token of the kubeconfig takes precedence over a plugin', limit, async (t) => {
  const { kubeconfig } = await startCluster(t);
  const { username } = await whoAmI({ kubeconfig: kubeconfig({ ...exec(), token: 'second' }) });
  assert.equal(username, 'two');
});

test('a kubeconfig impersonates a user, and flags another', limit, async (t) => {
  const { kubeconfig } = await startCluster(t);
  const path = kubeconfig({
    ...administrator(),
    ...{ as: 'jörg', 'as-uid': '7', 'as-groups': ['dev', 'ops'] },
    'as-user-extra': { 'example.com/team': ['a', 'b'] },
  });
  const first = await whoAmI({ kubeconfig: path });
  assert.deepEqual(
    [first.username, first.uid, first.groups, first.extra],
    ['jörg', '7', ['dev', 'ops', 'system:authenticated'], { 'example.com/team': ['a', 'b'] }],
  );
  const second = await whoAmI({ kubeconfig: path, as: 'eve', asGroup: ['x'], asUid: '8' });
  assert.deepEqual([second.username, second.uid, second.extra], ['eve', '8', undefined]);
});

test('a user name and a password are sent as such', limit, async (t) => {
  const { kubeconfig, write } = await startCluster(t);
  const server = createServer((request, response) => {
    const userInfo = { username: request.headers.authorization, groups: [] };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ status: { userInfo } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  write('unused', '');
  const path = kubeconfig(
    { username: 'me', password: 'pass:wörd' },
    { server: `http://127.0.0.1:${port}` },
  );
  const { username } = await whoAmI({ kubeconfig: path });
  assert.equal(username, `Basic ${Buffer.from('me:pass:wörd').toString('base64')}`);
});

const proxies = {
  'an HTTP proxy': (t: TestContext) => startHttpProxy(t),
  'an HTTP proxy with a login': (t: TestContext) => startHttpProxy(t, { login: 'me:secret' }),
  'an HTTPS proxy': (t: TestContext) => startHttpProxy(t, { isTls: true }),
  'a SOCKS5 proxy': (t: TestContext) => startSocksProxy(t),
  'a SOCKS5 proxy with a login': (t: TestContext) => startSocksProxy(t, { login: 'me:secret' }),
} as const;
for (const [what, start] of Object.entries(proxies)) {
  test(
    `${what} of the kubeconfig leads to the server, which need not be known here`,
    limit,
    async (t) => {
      const { kubeconfig, port } = await startCluster(t);
      const proxy = await start(t);
      const cluster = {
        server: `https://api.nowhere.invalid:${port}`,
        ...{ 'tls-server-name': 'localhost', 'proxy-url': proxy.url, 'disable-compression': true },
      };
      const flags = { kubeconfig: kubeconfig({ token: 'first' }, cluster) };
      assert.equal((await whoAmI(flags)).username, 'one');
      assert.deepEqual(new Set(proxy.requested), new Set([`api.nowhere.invalid:${port}`]));
      await withConnection(flags, { world: silentWorld, log: silentLog }, async ({ transport }) => {
        const response = await transport.send({ method: 'GET', path: '/api' });
        assert.equal(response.status, 200);
        for await (const _ of response.body);
      });
    },
  );

  test(`${what} leads to a server that has no TLS`, limit, async (t) => {
    const { kubeconfig } = await startCluster(t);
    const seen: string[] = [];
    const server = createServer((request, response) => {
      seen.push(`${request.url} ${request.headers['proxy-authorization']}`);
      response.end(JSON.stringify({ status: { userInfo: { username: 'plain', groups: [] } } }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const proxy = await start(t);
    const flags = {
      kubeconfig: kubeconfig(
        { token: 'first' },
        { server: `http://api.nowhere.invalid:${port}/prefix`, 'proxy-url': proxy.url },
      ),
    };
    assert.equal((await whoAmI(flags)).username, 'plain');
    assert.equal(proxy.requested.length, 1);
    assert.match(seen[0] ?? '', /^\/prefix\/apis\/authentication/);
  });
}

test('a proxy of the environment is used, unless NO_PROXY names the server', limit, async (t) => {
  const { kubeconfig, port } = await startCluster(t);
  const proxy = await startHttpProxy(t);
  const cluster = { server: `https://api.nowhere.invalid:${port}`, 'tls-server-name': 'localhost' };
  const flags = { kubeconfig: kubeconfig({ token: 'first' }, cluster) };
  const worldOf = (env: World['env']): World => ({ ...silentWorld, env });
  assert.equal((await whoAmI(flags, worldOf({ https_proxy: proxy.url }))).username, 'one');
  assert.equal(proxy.requested.length, 1);
  await assert.rejects(
    whoAmI(flags, worldOf({ HTTPS_PROXY: proxy.url, NO_PROXY: '.invalid' })),
    /Unable to connect to the server: getaddrinfo/,
  );
  assert.equal(proxy.requested.length, 1);
});

const refusing: Readonly<
  Record<string, readonly [(t: TestContext) => Promise<{ url: string }>, RegExp]>
> = {
  'refuses the login': [
    async (t) => ({
      url: (await startHttpProxy(t, { login: 'a:b' })).url.replace('a:b', 'a:wrong'),
    }),
    /^Unable to connect to the server: the proxy http:\/\/127\.0\.0\.1:\d+ refuses to connect to api\.nowhere\.invalid:\d+: 407 Proxy Authentication Required$/,
  ],
  'cannot reach the server': [
    (t) => startHttpProxy(t, { status: '502 Bad Gateway' }),
    /refuses to connect to api\.nowhere\.invalid:\d+: 502 Bad Gateway$/,
  ],
  'wants a login for SOCKS5': [
    async (t) => ({ url: (await startSocksProxy(t, { login: 'a:b' })).url.replace('a:b@', '') }),
    /wants an authentication that the URL does not have$/,
  ],
  'refuses the login for SOCKS5': [
    async (t) => ({ url: (await startSocksProxy(t, { login: 'a:b' })).url.replace('a:b', 'a:c') }),
    /refuses the user name or the password$/,
  ],
  'is no SOCKS5 proxy': [
    async (t) => ({ url: (await startHttpProxy(t)).url.replace('http:', 'socks5:') }),
    /does not speak SOCKS5$/,
  ],
  'is not there': [async () => ({ url: 'http://127.0.0.1:1' }), /cannot be used: .*ECONNREFUSED/],
};
for (const [what, [start, why]] of Object.entries(refusing)) {
  test(`a proxy that ${what} is one sentence, without the password`, limit, async (t) => {
    const { kubeconfig, port } = await startCluster(t);
    const { url } = await start(t);
    const cluster = { server: `https://api.nowhere.invalid:${port}`, 'proxy-url': url };
    await assert.rejects(
      whoAmI({ kubeconfig: kubeconfig({ token: 'first' }, cluster) }),
      (error) =>
        error instanceof FailedError && why.test(error.message) && !/wrong/.test(error.message),
    );
  });
}

test('a service account mounted in a pod is used, and followed', limit, async (t) => {
  const { port, write, path } = await startCluster(t);
  write('account/token', 'first\n');
  write('account/ca.crt', testCredentials().authority.certificate);
  write('account/namespace', 'web\n');
  const env = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(port) };
  const options = { env, directory: path('account') };
  assert.equal(isInCluster(options), true);
  assert.equal(isInCluster({ ...options, directory: path('nothing') }), false);
  assert.equal(isInCluster({ ...options, env: {} }), false);
  const connection = await readInClusterConnection(options);
  assert.equal(connection.namespace, 'web');
  const transport = createRenewableTransport(connection);
  t.after(transport.close);
  const { status } = (await callApi(
    { transport, userAgent: 'test' },
    { method: 'POST', path: '/apis/authentication.k8s.io/v1/selfsubjectreviews', body: {} },
  )) as { status: { userInfo: UserInfo } };
  assert.equal(status.userInfo.username, 'one');
});
