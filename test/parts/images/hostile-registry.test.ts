// Registries that lie, stall and send too much: each ends with a clear error, the host is as before, and an honest image beside it is pulled.
import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { type ImageErrorCode, isImageError } from '../../../src/images/image-error.ts';
import {
  type BuiltImage,
  buildImage,
  digestOf,
  layerOf,
  mediaTypes,
} from '../harness/images/build-image.ts';
import { type ServedRegistry, serveRegistry } from '../harness/images/serve-registry.ts';
import { never, withStore } from '../harness/images/store-harness.ts';

type Hostile = {
  readonly code: ImageErrorCode;
  readonly message: RegExp;
  readonly intercept: (request: IncomingMessage, response: ServerResponse) => boolean;
};

const stallMs = 300;
const honest = buildImage({ layers: [layerOf([{ name: 'honest', content: 'x' }])] });
const victim = buildImage({
  layers: [layerOf([{ name: 'victim', content: Buffer.alloc(200_000, 7) }], 'plain')],
});
const [layer] = victim.layers;
const layerPath = `/blobs/${layer?.digest}`;

const isManifest = ({ url = '' }: IncomingMessage): boolean => url.includes('/victim/manifests/');
const isLayer = ({ url = '' }: IncomingMessage): boolean => url.includes(layerPath);

const answer = (
  response: ServerResponse,
  status: number,
  headers: Record<string, string | string[]> = {},
  body: string | Buffer = '',
): true => {
  response.writeHead(status, headers);
  response.end(body);
  return true;
};

const onManifest =
  (send: (response: ServerResponse, request: IncomingMessage) => boolean) =>
  (request: IncomingMessage, response: ServerResponse): boolean =>
    isManifest(request) && send(response, request);
const onLayer =
  (send: (response: ServerResponse, request: IncomingMessage) => boolean) =>
  (request: IncomingMessage, response: ServerResponse): boolean =>
    isLayer(request) && send(response, request);

/** A byte from time to time, for ever. */
function trickle(response: ServerResponse, everyMs: number): true {
  const timer = setInterval(() => response.write('x'), everyMs);
  response.on('close', () => clearInterval(timer));
  response.write('x');
  return true;
}

const manifestOf = (fields: object): Buffer =>
  Buffer.from(JSON.stringify({ ...JSON.parse(victim.manifest.content.toString()), ...fields }));
const sendManifest = (fields: object): Hostile['intercept'] =>
  onManifest((response) =>
    answer(response, 200, { 'content-type': mediaTypes.manifest }, manifestOf(fields)),
  );

const attacks: Readonly<Record<string, Hostile>> = {
  'never answers': {
    ...{
      code: 'Unavailable',
      message: /failed to do request: HEAD request to .*: no answer in 300 ms/,
    },
    intercept: onManifest(() => true),
  },
  'never ends its manifest': {
    ...{ code: 'Unavailable', message: /the answer has not ended in 300 ms/ },
    intercept: onManifest((response, { method }) => {
      if (method === 'HEAD') return answer(response, 200);
      return trickle(response, 20);
    }),
  },
  'never ends its layer': {
    ...{ code: 'Unavailable', message: /the answer has stalled|only \d+ bytes in/ },
    intercept: onLayer((response) => {
      response.writeHead(200, { 'content-length': String(layer?.content.length) });
      response.write('x');
      return true;
    }),
  },
  'sends a layer byte by byte': {
    ...{ code: 'Unavailable', message: /only \d+ bytes in \d+ ms/ },
    intercept: onLayer((response) => trickle(response, 10)),
  },
  'redirects in a circle': {
    ...{ code: 'FailedPrecondition', message: /stopped after 5 redirects/ },
    intercept: onManifest((response, { url = '' }) => answer(response, 307, { location: url })),
  },
  'redirects to a file': {
    ...{ code: 'FailedPrecondition', message: /redirected from https to file:|not a URL/ },
    intercept: onLayer((response) => answer(response, 307, { location: 'file:///etc/passwd' })),
  },
  'redirects to the metadata service of a cloud': {
    ...{
      code: 'FailedPrecondition',
      message: /refers to 169\.254\.169\.254, a link-local address/,
    },
    intercept: onLayer((response) =>
      answer(response, 307, { location: 'http://169.254.169.254/latest/meta-data' }),
    ),
  },
  'answers 500': {
    ...{ code: 'Unavailable', message: /unexpected status from HEAD request to .*: 500 Internal/ },
    intercept: onManifest((response) => answer(response, 500, { 'retry-after': '0' })),
  },
  'wants to be left alone': {
    ...{ code: 'ResourceExhausted', message: /429 Too Many Requests/ },
    intercept: onManifest((response) => answer(response, 429, { 'retry-after': '3600' })),
  },
  'answers 401 without saying how': {
    ...{ code: 'PermissionDenied', message: /401 Unauthorized/ },
    intercept: onManifest((response) => answer(response, 401)),
  },
  'answers 401 to every token': {
    ...{
      code: 'PermissionDenied',
      message: /pull access denied, repository does not exist or may/,
    },
    intercept: (request, response) => {
      const host = request.headers.host ?? '';
      if (request.url?.startsWith('/token')) return answer(response, 200, {}, '{"token":"abc"}');
      const challenge = `Bearer realm="http://${host}/token",service="s",error="insufficient_scope"`;
      return isManifest(request) && answer(response, 401, { 'www-authenticate': challenge });
    },
  },
  'has tokens elsewhere, without TLS': {
    ...{ code: 'FailedPrecondition', message: /refers to file:\/\/ for tokens, want https/ },
    intercept: onManifest((response) =>
      answer(response, 401, { 'www-authenticate': 'Bearer realm="file:///etc/passwd"' }),
    ),
  },
  'sends a token that is none': {
    ...{ code: 'FailedPrecondition', message: /not one that fits into a header/ },
    intercept: (request, response) => {
      const challenge = `Bearer realm="http://${request.headers.host}/token"`;
      if (request.url?.startsWith('/token'))
        return answer(response, 200, {}, JSON.stringify({ token: 'a\r\nx-evil: 1' }));
      return isManifest(request) && answer(response, 401, { 'www-authenticate': challenge });
    },
  },
  'has a huge manifest': {
    ...{ code: 'FailedPrecondition', message: /more than 4194304 bytes/ },
    intercept: onManifest((response) => answer(response, 200, {}, Buffer.alloc(5_000_000, 0x20))),
  },
  'has huge headers': {
    ...{ code: 'FailedPrecondition', message: /more than 16 KiB of headers/ },
    intercept: onManifest((response) => answer(response, 200, { 'x-large': 'x'.repeat(40_000) })),
  },
  'sends a web page': {
    ...{ code: 'FailedPrecondition', message: /the manifest is not JSON/ },
    intercept: onManifest((response) =>
      answer(response, 200, { 'content-type': 'text/html' }, '<html>'),
    ),
  },
  'sends something compressed': {
    ...{ code: 'FailedPrecondition', message: /content-encoding gzip/ },
    intercept: onManifest((response) => answer(response, 200, { 'content-encoding': 'gzip' }, 'x')),
  },
  'has a manifest of schema 1': {
    ...{ code: 'FailedPrecondition', message: /manifest of schema 1, which is not supported/ },
    intercept: onManifest((response) => answer(response, 200, {}, '{"schemaVersion":1}')),
  },
  'has a chart instead of an image': {
    ...{ code: 'FailedPrecondition', message: /not a container image/ },
    intercept: sendManifest({
      config: {
        mediaType: 'application/vnd.cncf.helm.config.v1+json',
        digest: digestOf('x'),
        size: 1,
      },
    }),
  },
  'has too many layers': {
    ...{ code: 'FailedPrecondition', message: /layers has 200 entries, more than 127/ },
    intercept: sendManifest({ layers: Array.from({ length: 200 }, () => ({})) }),
  },
  'has a digest that is a path': {
    ...{ code: 'FailedPrecondition', message: /digest "sha256:\.\.\/\.\.\/x", want sha256/ },
    intercept: sendManifest({
      layers: [{ mediaType: mediaTypes.layer, digest: 'sha256:../../x', size: 1 }],
    }),
  },
  'has a layer larger than the limit': {
    ...{ code: 'ResourceExhausted', message: /has 1000000000000000 bytes of layers, more than/ },
    intercept: sendManifest({
      layers: [{ mediaType: mediaTypes.layer, digest: digestOf('x'), size: 1e15 }],
    }),
  },
  'sends another layer': {
    ...{ code: 'FailedPrecondition', message: /unexpected commit digest/ },
    intercept: onLayer((response) =>
      answer(response, 200, {}, Buffer.alloc(layer?.content.length ?? 0)),
    ),
  },
  'sends more than it promised': {
    ...{
      code: 'FailedPrecondition',
      message: /failed size validation: \d+ != \d+: failed precond/,
    },
    intercept: onLayer((response) => {
      response.writeHead(200);
      // For ever, as fast as it is read.
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      };
      response.on('drain', more);
      more();
      return true;
    }),
  },
  'sends less than it promised': {
    ...{ code: 'FailedPrecondition', message: /failed size validation/ },
    intercept: onLayer((response) => answer(response, 200, { 'content-length': '5' }, 'short')),
  },
  'continues elsewhere than requested': {
    ...{ code: 'FailedPrecondition', message: /does not begin at byte|unexpected commit digest/ },
    intercept: onLayer((response, { headers }) => {
      if (headers.range !== undefined)
        return answer(response, 206, { 'content-range': 'bytes 0-9/10' }, '0123456789');
      response.writeHead(200, { 'content-length': String(layer?.content.length) });
      response.write('begun', () => response.destroy());
      return true;
    }),
  },
  'does not speak HTTP': {
    ...{ code: 'FailedPrecondition', message: /malformed HTTP response/ },
    intercept: onManifest((response) => {
      response.socket?.end('SSH-2.0-OpenSSH_9.2\r\n');
      return true;
    }),
  },
};

async function withRegistry(use: (registry: ServedRegistry) => Promise<void>): Promise<void> {
  const registry = await serveRegistry();
  registry.add('team/honest:1', honest);
  registry.add('team/victim:1', victim);
  try {
    await use(registry);
  } finally {
    await registry.stop();
  }
}

for (const [what, { code, message, intercept }] of Object.entries(attacks)) {
  test(`a registry that ${what} costs an error, and nothing else`, { timeout: 60_000 }, () =>
    withRegistry((registry) =>
      withStore(
        async ({ store, directory }) => {
          registry.intercept = intercept;
          const name = (image: string) => `${registry.host}/team/${image}:1`;
          const pulling = store.pull(name('victim'), { signal: never });
          // Both at once: the honest one does not wait.
          const [found] = await Promise.allSettled([
            pulling,
            store.pull(name('honest'), { signal: never }),
          ]);
          assert.ok(found.status === 'rejected', 'it was pulled');
          const { reason } = found;
          assert.ok(isImageError(reason), String((reason as Error).stack));
          assert.match(reason.message, message);
          assert.equal(reason.code, code);
          assert.match(reason.message, /^failed to pull and unpack image "127\.0\.0\.1:\d+\/team/);
          const list = await store.list();
          assert.deepEqual(
            list.map(({ id }) => id),
            [honest.config.digest],
          );
          const bytes = ['incoming', 'blobs/sha256'].flatMap((below) =>
            readdirSync(join(directory, below)).map(
              (one) => statSync(join(directory, below, one)).size,
            ),
          );
          assert.ok(bytes.reduce((sum, size) => sum + size, 0) < 500_000, bytes.join());
        },
        { limits: { stallMs } },
      ),
    ),
  );
}

test('credentials do not follow a redirect to another host', () =>
  withRegistry((registry) =>
    withRegistry(async (other) => {
      const seen: (string | undefined)[] = [];
      other.intercept = ({ headers }) => {
        seen.push(headers.authorization);
        return false;
      };
      registry.intercept = ({ url = '', headers }, response) => {
        if (headers.authorization === undefined)
          return answer(response, 401, { 'www-authenticate': 'Basic realm="x"' });
        return (
          url.includes('/blobs/') &&
          answer(response, 307, { location: `http://${other.host}${url}` })
        );
      };
      await withStore(async ({ store }) => {
        const login = { kind: 'password', username: 'u', password: 'p' } as const;
        const keyring = [{ pattern: registry.host, login }];
        await store.pull(`${registry.host}/team/victim:1`, { signal: never, keyring });
      });
      assert.ok(seen.length >= 2);
      assert.deepEqual(new Set(seen), new Set([undefined]));
    }),
  ));

test('a pull ends when its signal aborts, and the next one continues it', { timeout: 30_000 }, () =>
  withRegistry((registry) =>
    withStore(async ({ store }) => {
      const end = new AbortController();
      let isFirst = true;
      registry.intercept = onLayer((response) => {
        if (!isFirst) return false;
        isFirst = false;
        response.writeHead(200, { 'content-length': String(layer?.content.length) });
        response.write(layer?.content.subarray(0, 100_000));
        // The content is sevens from here on.
        const timer = setInterval(() => response.write(Buffer.of(7)), 20);
        response.on('close', () => clearInterval(timer));
        return true;
      });
      const name = `${registry.host}/team/victim:1`;
      await assert.rejects(
        store.pull(name, {
          signal: end.signal,
          onProgress: ({ doneBytes }) => {
            if (doneBytes >= 50_000) end.abort(new Error('ended by the test'));
          },
        }),
        /ended by the test/,
      );
      const ranges: (string | undefined)[] = [];
      registry.intercept = onLayer((_, { headers }) => {
        ranges.push(headers.range);
        return false;
      });
      await store.pull(name, { signal: never });
      assert.match(ranges[0] ?? '', /^bytes=\d{5,}-$/);
    }),
  ),
);

const bomb = (): BuiltImage => {
  const zeros = Buffer.alloc(400 * 2 ** 20);
  return buildImage({ layers: [layerOf([{ name: 'zeros', content: zeros }])] });
};

test('a bomb is refused before it fills the disk, and nothing of it stays', () =>
  withRegistry((registry) =>
    withStore(async ({ store, directory }) => {
      registry.add('team/bomb:1', bomb());
      const image = await store.pull(`${registry.host}/team/bomb:1`, { signal: never });
      await assert.rejects(
        store.unpack(image, never),
        (error) =>
          isImageError(error, 'ResourceExhausted') &&
          /failed to extract layer sha256:.*decompression bomb/.test(error.message),
      );
      const left = readdirSync(join(directory, 'layers'), { recursive: true }) as string[];
      assert.ok(
        left.every((path) => !path.includes('root')),
        left.join(),
      );
    }),
  ));

test('an image may not unpack to more than its limit, in one layer or in all', () =>
  withRegistry((registry) =>
    withStore(
      async ({ store }) => {
        const layers = ['a', 'b', 'c'].map((name) =>
          layerOf([{ name, content: Buffer.alloc(30_000, name) }]),
        );
        registry.add('team/large:1', buildImage({ layers }));
        const image = await store.pull(`${registry.host}/team/large:1`, { signal: never });
        await assert.rejects(store.unpack(image, never), /unpacks to more than 80000 bytes/);
      },
      { limits: { maxImageBytes: 80_000 } },
    ),
  ));
