// The image of docs/deploy, as far as it can be had without a builder of images: everything that its Dockerfile copies is laid out as it
// says, with the dependencies that `npm ci --omit=dev` installs and no others, and the program is started there.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { isReady } from '../../crash/api-crash-server.ts';
import { root } from '../../lanes/running-server.ts';

const timeout = 60_000;
const file = 'docs/deploy/kubernetes/Dockerfile';
const lines = readFileSync(join(root, file), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => {
    const [instruction = '', ...words] = line.split(' ');
    return { instruction, words };
  });

const of = (name: string) => lines.filter(({ instruction }) => instruction === name);
const entry = JSON.parse(of('ENTRYPOINT')[0]?.words.join(' ') ?? '[]') as readonly string[];
const home = of('WORKDIR')[0]?.words[0] ?? '';

/** Stands for the root of the image. */
let image: string;
before(async () => {
  image = await mkdtemp(join(tmpdir(), 'fairlead-image-'));
});
after(() => rm(image, { recursive: true, force: true }));

test('nothing is in the Dockerfile that is not looked at here', () => {
  assert.deepEqual(
    lines.map(({ instruction }) => instruction),
    ['FROM', 'WORKDIR', 'COPY', 'RUN', 'COPY', 'COPY', 'ENTRYPOINT'],
  );
  assert.match(of('RUN')[0]?.words.join(' ') ?? '', /^npm ci --omit=dev --ignore-scripts && /);
});

test('its Node.js is one that the package is for', () => {
  const { engines } = readJson('package.json') as { readonly engines: { readonly node: string } };
  const [, least] = /^>=(\d+)\./.exec(engines.node) ?? [];
  const [, major] = /^node:(\d+)-/.exec(of('FROM')[0]?.words[0] ?? '') ?? [];
  assert.ok(Number(major) >= Number(least), `${major} is not ${engines.node}`);
});

test('what it copies is there, and runs with the dependencies of the package alone', {
  timeout,
}, async () => {
  for (const { words } of of('COPY')) {
    const [to = '', ...sources] = [...words].reverse();
    for (const source of sources) {
      const target = to.endsWith('/') ? join(to, source) : to;
      await mkdir(dirname(join(image, home, target)), { recursive: true });
      await cp(join(root, source), join(image, home, target), {
        recursive: true,
        dereference: true,
      });
    }
  }
  for (const path of installed()) {
    await mkdir(dirname(join(image, home, path)), { recursive: true });
    await symlink(join(root, path), join(image, home, path));
  }
  const version = spawnSync(process.execPath, [...commandLine(), 'version'], { encoding: 'utf8' });
  assert.match(version.stdout, /^fairlead \d/, version.stderr);
  const server = spawn(
    process.execPath,
    [
      ...[...commandLine(), 'apiserver', '--bind-address', '127.0.0.1', '--secure-port', '0'],
      ...['--data-dir', join(image, 'data'), '--log-level', 'error'],
    ],
    { cwd: image, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await isReady(server);
  assert.equal(await end(server), 0);
});

/** Packages stay where they are linked, so that none finds a neighbour that an image would not have. */
function commandLine(): readonly string[] {
  const [program, script = ''] = entry;
  assert.equal(program, 'node');
  return ['--preserve-symlinks', '--preserve-symlinks-main', join(image, script)];
}

type Locked = { readonly dev?: true };

/** Packages of the lock file that are not for development; what is for other machines is not here. */
function installed(): readonly string[] {
  const { packages } = readJson('package-lock.json') as {
    readonly packages: Readonly<Record<string, Locked>>;
  };
  return Object.entries(packages)
    .filter(([path, { dev }]) => path.lastIndexOf('node_modules/') === 0 && dev !== true)
    .map(([path]) => path)
    .filter((path) => existsSync(join(root, path)));
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(join(root, path), 'utf8'));
}

async function end(child: ChildProcess): Promise<unknown> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const [code] = await ended;
  return code;
}
