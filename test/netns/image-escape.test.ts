// Images that try to get out, in a real `up`, as root and as an ordinary user: what they must not reach is looked at from outside.
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { busyboxImage, busyboxMissing } from '../parts/harness/images/build-image.ts';
import { type ServedRegistry, serveRegistry } from '../parts/harness/images/serve-registry.ts';
import type { TarEntry } from '../parts/harness/images/tar-writer.ts';
import {
  endWith,
  type Identity,
  makeDirectory,
  removeDirectory,
  startUp,
  type Up,
  until,
} from './up-harness.ts';

const timeout = 900_000;
const identities = ['root', 'an ordinary user'] as const satisfies readonly Identity[];
const missing = busyboxMissing() ?? false;

const link = (name: string, target: string): TarEntry => ({ name, type: 'symlink', target });

type Attack = {
  readonly files: readonly TarEntry[];
  readonly config?: Readonly<Record<string, unknown>>;
  readonly pod?: object;
  /** Run inside, if the container starts. */
  readonly script: string;
};

/** `outside` is a directory of the machine that any user may read and write, with a file `mark`. */
const attacks = (outside: string): Readonly<Record<string, Attack>> => ({
  'links in place of what the node mounts': {
    files: [
      ...[link('etc2', '/'), link('proc', outside), link('sys', outside), link('dev', outside)],
      link('run', outside),
    ],
    script: `cat /proc/mark /sys/mark /dev/mark ${outside}/mark`,
  },
  'a link in place of /etc': {
    files: [link('etc', outside)],
    script: 'cat /etc/mark; touch /etc/made',
  },
  'links where the node keeps its mounts': {
    files: ['proc', 'sys', 'dev', 'volumes'].map((name) => link(`.fairlead/${name}`, outside)),
    script: 'cat /.fairlead/*/mark',
  },
  'a link in place of the directory for mounts': {
    files: [link('.fairlead', outside)],
    script: 'cat /.fairlead/mark',
  },
  'links where volumes are mounted': {
    files: [link('data', outside), link('deep', '/proc/1/root')],
    pod: {
      hostPID: true,
      volumes: [{ name: 'v', emptyDir: {} }],
      volumeMounts: [
        { name: 'v', mountPath: '/data/made' },
        { name: 'v', mountPath: `/deep${outside}/made` },
      ],
    },
    script: `cat /data/mark /deep${outside}/mark`,
  },
  'a working directory among the descriptors of the node': {
    files: [],
    config: { WorkingDir: '/proc/self/fd/7' },
    script: 'cat mark; ls ..; cat ../../../../etc/shadow',
  },
  'a working directory behind a link': {
    files: [link('work', outside)],
    config: { WorkingDir: '/work/made' },
    script: 'pwd; cat ../mark',
  },
  'volumes of the image behind a link': {
    files: [link('vol', outside)],
    config: { Volumes: { '/vol/made': {}, '/../../..': {}, '/proc/1/root/made': {} } },
    pod: { securityContext: { readOnlyRootFilesystem: true } },
    script: 'ls /vol',
  },
  'a link in place of resolv.conf and hosts': {
    files: [link('etc/resolv.conf', `${outside}/mark`), link('etc/hosts', `${outside}/hosts`)],
    script: `cat ${outside}/mark; echo x > /etc/hosts`,
  },
  'an entrypoint behind links': {
    files: [link('bin/start', '/proc/self/exe'), link('bin/other', `${outside}/program`)],
    config: { Entrypoint: ['/bin/start', 'sh', '-c'] },
    script: `cat ${outside}/mark`,
  },
  'programs that set the user id, and devices': {
    files: [{ name: 'bin/become', type: 'symlink', target: 'busybox' }],
    script: `mknod /made b 8 0; cat /made; mknod /tmp/null c 1 3; : > /tmp/null; mount -t tmpfs none /mnt; cat ${outside}/mark`,
  },
});

type Run = {
  readonly directory: string;
  readonly up: () => Up;
  readonly registry: () => ServedRegistry;
};

for (const identity of identities) {
  describe(`hostile images as ${identity}`, { timeout, skip: missing }, () => {
    const directory = makeDirectory(identity);
    let registry: ServedRegistry;
    let up: Up;
    before(async () => {
      registry = await serveRegistry();
      up = await startUp(identity, directory, []);
    });
    after(async () => {
      const { exitCode, signalCode } = up.process;
      if (exitCode === null && signalCode === null) await endWith(up, 'SIGKILL');
      await registry.stop();
      removeDirectory(directory);
    });
    const run: Run = { directory, up: () => up, registry: () => registry };
    for (const name of Object.keys(attacks(''))) attackWith(run, name);
    useUsers(run);
  });
}

function attackWith(run: Run, name: string): void {
  test(`an image with ${name} does not reach the machine`, async () => {
    const outside = mkdtempSync(join(tmpdir(), 'outside-'));
    try {
      chmodSync(outside, 0o777);
      writeFileSync(join(outside, 'mark'), 'open sesame');
      const attack = attacks(outside)[name];
      assert.ok(attack !== undefined);
      const said = await outcomeOf(run, name, attack);
      assert.doesNotMatch(said, /open sesame|root:[^x*!]/);
      assert.deepEqual(readdirSync(outside), ['mark']);
    } finally {
      rmSync(outside, { recursive: true });
    }
    // The node is well.
    assert.equal(run.up().process.exitCode, null);
  });
}

const nameOf = (text: string): string =>
  text
    .replace(/[^a-z]+/g, '-')
    .slice(0, 40)
    .replace(/-+$/, '');

/** What the container says, or why it did not start. */
async function outcomeOf(
  { up, registry, directory }: Run,
  title: string,
  { files, config = {}, pod = {}, script }: Attack,
): Promise<string> {
  const name = nameOf(title);
  registry().add(`evil/${name}:1`, busyboxImage({ files, config }));
  const { volumeMounts, securityContext, ...spec } = pod as Readonly<Record<string, unknown>>;
  const hasEntrypoint = 'Entrypoint' in config;
  const container = {
    ...{ name: 'app', image: `${registry().host}/evil/${name}:1`, volumeMounts, securityContext },
    ...(hasEntrypoint
      ? { args: [script] }
      : { command: ['/bin/sh', '-c', `{ ${script}; } 2>&1; echo over`] }),
  };
  const file = join(directory, `${name}.json`);
  const body = { restartPolicy: 'Never', terminationGracePeriodSeconds: 0, ...spec };
  writeFileSync(
    file,
    JSON.stringify({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name } },
      spec: { ...body, containers: [container] },
    }),
  );
  await up().kubectl('apply', '-f', file);
  const problem = await until(async () => {
    const text = await up().kubectl('get', 'pod', name, '-o', 'json');
    const { terminated, waiting } = JSON.parse(text).status.containerStatuses?.[0]?.state ?? {};
    if (terminated !== undefined) return '';
    return waiting?.message as string | undefined;
  });
  const logs = await up()
    .kubectl('logs', name)
    .catch(() => '');
  await up().kubectl('delete', 'pod', name, '--grace-period=0', '--force');
  return `${problem}\n${logs}`;
}

function useUsers(run: Run): void {
  const refused: Readonly<Record<string, readonly [TarEntry, RegExp]>> = {
    'too many users': [
      { name: 'etc/passwd', content: 'x:x:1:1::/:\n'.repeat(200_000) },
      /\/etc\/passwd of the image has 2400000 bytes, want at most 1048576/,
    ],
    'a directory of users': [
      { name: 'etc/passwd/', type: 'directory' },
      /\/etc\/passwd of the image is not a file/,
    ],
    'users behind a link to the machine': [
      link('etc/passwd', '/proc/1/root/etc/passwd'),
      /unable to find user daemon: no matching entries in passwd file/,
    ],
  };
  for (const [name, [file, wanted]] of Object.entries(refused)) {
    test(`an image with ${name} is refused`, async () => {
      const attack = { files: [file], config: { User: 'daemon' }, script: 'id' };
      assert.match(await outcomeOf(run, name, attack), wanted);
    });
  }
}
