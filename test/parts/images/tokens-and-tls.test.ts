// Tokens of a token server, registries with TLS, and proxies before them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { issueServerCertificate } from '../../../src/apiserver/certificates/authority.ts';
import { isImageError } from '../../../src/images/image-error.ts';
import type { RegistryLogin } from '../../../src/images/keyring.ts';
import { buildImage, layerOf } from '../harness/images/build-image.ts';
import {
  registryLogin,
  registryMissing,
  startRegistry,
} from '../harness/images/registry-process.ts';
import { serveRegistry } from '../harness/images/serve-registry.ts';
import { never, withStore } from '../harness/images/store-harness.ts';
import { startTokenServer } from '../harness/images/token-server.ts';
import { testCredentials } from '../harness/memory-server.ts';
import { startHttpProxy, startSocksProxy } from '../harness/proxies.ts';

const image = buildImage({
  layers: [layerOf([{ name: 'a', content: 'x' }]), layerOf([{ name: 'b', content: 'y' }])],
});

test('Debian’s registry gives its images for tokens', {
  skip: registryMissing() ?? false,
}, async () => {
  const tokens = await startTokenServer();
  const registry = await startRegistry({ tokens });
  try {
    await registry.push('team/app:1', image);
    const name = `${registry.host}/team/app:1`;
    const logins: readonly RegistryLogin[] = [
      { kind: 'password', ...registryLogin },
      { kind: 'identity', identityToken: tokens.refreshToken },
      { kind: 'registry', registryToken: tokens.pushToken('team/app') },
    ];
    for (const login of logins) {
      await withStore(async ({ store }) => {
        const before = tokens.requests.length;
        const keyring = [{ pattern: registry.host, login }];
        const pulled = await store.pull(name, { signal: never, keyring });
        assert.equal(pulled.id, image.config.digest);
        const requests = tokens.requests.slice(before);
        // One token for the manifest and all blobs.
        assert.equal(requests.length, login.kind === 'registry' ? 0 : 1, requests.join('\n'));
        if (login.kind === 'identity')
          assert.match(requests[0] ?? '', /^POST .*grant_type=refresh/);
      });
    }
    await withStore(async ({ store }) => {
      const denied = (login: RegistryLogin | undefined) =>
        assert.rejects(
          store.pull(name, {
            signal: never,
            keyring: login === undefined ? [] : [{ pattern: registry.host, login }],
          }),
          (error) =>
            isImageError(error, 'PermissionDenied') &&
            /failed to fetch oauth token: unexpected status from .*: 401/.test(error.message),
        );
      await denied(undefined);
      await denied({ kind: 'password', username: 'tester', password: 'wrong' });
      await denied({ kind: 'identity', identityToken: 'wrong' });
    });
  } finally {
    await registry.stop();
    await tokens.stop();
  }
});

const hostName = 'registry.test';

async function withTlsRegistry(
  use: (name: string, certificateAuthority: string) => Promise<void>,
): Promise<void> {
  const { authority } = testCredentials();
  const { certificate: cert, privateKey: key } = issueServerCertificate(authority, {
    ...{ names: [hostName, '127.0.0.1'], now: Date.now() },
  });
  const registry = await serveRegistry({ cert, key });
  try {
    registry.add('team/app:1', image);
    const port = registry.host.split(':')[1];
    await use(`${hostName}:${port}`, authority.certificate);
  } finally {
    await registry.stop();
  }
}

const proxies = { 'an HTTP proxy': startHttpProxy, 'a SOCKS proxy': startSocksProxy };

for (const [what, start] of Object.entries(proxies)) {
  test(`a registry with TLS is reached through ${what}, with its own authority only`, (t) =>
    withTlsRegistry(async (host, certificateAuthority) => {
      const proxy = await start(t, { login: 'me:secret' });
      const env = { HTTPS_PROXY: proxy.url };
      const name = `${host}/team/app:1`;
      const setting = { mirrors: [], isInsecure: false };
      await withStore(
        async ({ store }) => {
          assert.equal((await store.pull(name, { signal: never })).id, image.config.digest);
          assert.ok(proxy.requested.length > 0);
          assert.ok(proxy.requested.every((target) => target === host));
        },
        { env, registries: new Map([[host, { ...setting, certificateAuthority }]]) },
      );
      await withStore(
        ({ store }) =>
          assert.rejects(
            store.pull(name, { signal: never }),
            /certificate signed by unknown authority|unable to verify/,
          ),
        { env },
      );
      await withStore(
        async ({ store }) => {
          await store.pull(name, { signal: never });
        },
        { env, registries: new Map([[host, { ...setting, isInsecure: true }]]) },
      );
    }));
}

test('a proxy that refuses is named', (t) =>
  withTlsRegistry(async (host) => {
    const proxy = await startHttpProxy(t, { status: '502 Bad Gateway' });
    await withStore(
      ({ store }) =>
        assert.rejects(
          store.pull(`${host}/team/app:1`, { signal: never }),
          (error) =>
            isImageError(error, 'Unavailable') &&
            /the proxy http:\/\/127\.0\.0\.1:\d+ refuses to connect to registry\.test:\d+: 502 Bad Gateway$/.test(
              error.message,
            ),
        ),
      { env: { HTTPS_PROXY: proxy.url } },
    );
  }));
