// A real registry on loopback: Debian's docker-registry, in a directory of its own.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitForOutput } from '../wait-for-output.ts';
import { type BuiltImage, blobsOf, indexOf } from './build-image.ts';

export type RunningRegistry = {
  /** `127.0.0.1:PORT`, the first part of names of its images. */
  readonly host: string;
  /** As `team/app:tag`. */
  readonly push: (name: string, ...images: readonly BuiltImage[]) => Promise<void>;
  readonly stop: () => Promise<void>;
};

/** What to say where it is missing; undefined where it is there. */
export function registryMissing(): string | undefined {
  return spawnSync('docker-registry', ['--version']).status === 0
    ? undefined
    : 'docker-registry is not installed (Debian: docker-registry)';
}

export const registryLogin = { username: 'tester', password: 'secret-word' } as const;
/** Bcrypt of the password. */
const passwordFile = 'tester:$2y$05$P0TKtjcW88neOJwG4qixKeFz16.gq1jXsh.fEF4hjG3yJXYx2Gfoi\n';

export type RegistryTokens = {
  readonly realm: string;
  readonly service: string;
  readonly issuer: string;
  /** PEM, of who signs tokens. */
  readonly certificate: string;
  /** A token with which tests push. */
  readonly pushToken: (repository: string) => string;
};

export type RegistryOptions = {
  /** Wants `registryLogin`. */
  readonly hasPassword?: boolean;
  readonly tokens?: RegistryTokens;
};

export async function startRegistry({
  hasPassword = false,
  tokens,
}: RegistryOptions = {}): Promise<RunningRegistry> {
  const directory = await mkdtemp(join(tmpdir(), 'fairlead-registry-'));
  const file = join(directory, 'config.yaml');
  await writeFile(join(directory, 'passwords'), passwordFile, { mode: 0o600 });
  await writeFile(join(directory, 'tokens.pem'), tokens?.certificate ?? '');
  const password = { htpasswd: { realm: 'test', path: join(directory, 'passwords') } };
  const token = tokens && {
    token: {
      ...{ realm: tokens.realm, service: tokens.service, issuer: tokens.issuer },
      rootcertbundle: join(directory, 'tokens.pem'),
    },
  };
  const auth = token ?? (hasPassword ? password : undefined);
  const config = {
    version: 0.1,
    log: { level: 'info', accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: join(directory, 'store') } },
    http: { addr: '127.0.0.1:0' },
    ...(auth === undefined ? {} : { auth }),
  };
  // JSON is YAML.
  await writeFile(file, JSON.stringify(config));
  const child = spawn('docker-registry', ['serve', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  const [, host = ''] = await waitForOutput(child.stderr, /listening on (127\.0\.0\.1:\d+)/);
  child.stderr.resume();
  const login = Buffer.from(`${registryLogin.username}:${registryLogin.password}`);
  const authorization = (repository: string): Record<string, string> => {
    if (tokens !== undefined) return { authorization: `Bearer ${tokens.pushToken(repository)}` };
    return hasPassword ? { authorization: `Basic ${login.toString('base64')}` } : {};
  };
  return {
    host,
    push: (name, ...images) => pushImages(`http://${host}`, name, images, authorization),
    stop: async () => {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

type Authorization = (repository: string) => Record<string, string>;

/** Several images become one manifest list. */
export async function pushImages(
  url: string,
  name: string,
  images: readonly BuiltImage[],
  authorization: Authorization = () => ({}),
): Promise<void> {
  const colon = name.lastIndexOf(':');
  const [repository, tag] = [name.slice(0, colon), name.slice(colon + 1)];
  const headers = authorization(repository);
  const send = async (to: string, init: RequestInit): Promise<Response> => {
    const answer = await fetch(to, { ...init, headers: { ...headers, ...init.headers } });
    if (!answer.ok)
      throw new Error(`${init.method} ${to}: ${answer.status} ${await answer.text()}`);
    await answer.arrayBuffer();
    return answer;
  };
  const putManifest = (reference: string, body: Buffer, type: string): Promise<Response> =>
    send(`${url}/v2/${repository}/manifests/${reference}`, {
      ...{ method: 'PUT', body: new Uint8Array(body) },
      headers: { 'content-type': type },
    });
  for (const image of images) {
    for (const { digest, content } of blobsOf(image).slice(1)) {
      const started = await send(`${url}/v2/${repository}/blobs/uploads/`, { method: 'POST' });
      const to = new URL(started.headers.get('location') ?? '', url);
      to.searchParams.set('digest', digest);
      await send(to.href, {
        ...{ method: 'PUT', body: new Uint8Array(content) },
        headers: { 'content-type': 'application/octet-stream' },
      });
    }
    const { content, mediaType, digest } = image.manifest;
    await putManifest(images.length === 1 ? tag : digest, content, mediaType);
  }
  if (images.length === 1) return;
  const list = indexOf(images);
  await putManifest(tag, list.content, list.mediaType);
}
