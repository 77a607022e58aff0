// Containers of images in namespaces, with layers that the tests write: as an ordinary user in a user namespace, too, where these tests run in one.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import type { ImageConfig, LayerForm } from '../../../images/image-store.ts';
import { silentLog } from '../../../observe/log.ts';
import { containerSecurity } from '../../pod/container-security.ts';
import { ContainerConfigError, type ContainerToRun, type Runtime } from '../runtime.ts';
import { createOciRuntime } from './run-runtime.ts';

const busybox = '/bin/busybox';
const missing = (() => {
  if (!existsSync(busybox)) return 'busybox is not installed (Debian: busybox-static)';
  if (process.getuid?.() !== 0) return 'needs the right to make namespaces';
  return false;
})();

type Layer = Readonly<
  Record<
    string,
    string | { readonly link: string } | { readonly mode: number; readonly text: string }
  >
>;

type Setup = {
  readonly runtime: Runtime;
  readonly directory: string;
  readonly run: (options: RunOptions) => Promise<{ readonly code: number; readonly said: string }>;
};

type RunOptions = {
  readonly layers?: readonly Layer[];
  readonly config?: Partial<ImageConfig>;
  readonly security?: object;
  readonly podSecurity?: object;
  readonly container?: Partial<ContainerToRun>;
};

const bare: ImageConfig = {
  ...{ env: [], volumes: [], exposedPorts: [], labels: {}, architecture: 'amd64', os: 'linux' },
};

const passwd: Layer = {
  'etc/passwd': 'root:x:0:0:root:/root:/bin/sh\napp:x:1000:1000::/home/app:/bin/sh\n',
  'etc/group': 'root:x:0:\napp:x:1000:\nstaff:x:50:app\n',
};

async function startRuntime(t: TestContext, form: LayerForm = formHere()): Promise<Setup> {
  const directory = mkdtempSync(join(tmpdir(), 'oci-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const runtime = await createOciRuntime({
    ...{ images: {}, directory, now: Date.now, log: silentLog, version: '1' },
  });
  let serial = 0;
  return {
    runtime,
    directory,
    async run({ layers = [], config = {}, security = {}, podSecurity = {}, container = {} }) {
      serial += 1;
      const own = join(directory, `container-${serial}`);
      mkdirSync(own);
      const unpacked = {
        form,
        directories: [busyboxLayer(directory), ...layers.map((layer) => writeLayer(own, layer))],
      };
      const local = {
        ...{ id: `sha256:${serial}`, names: [], digests: [], sizeBytes: 0, layers: [] },
        ...{ pulledAt: 0, lastUsed: 0, config: { ...bare, ...config } },
      };
      const users = await runtime.imageUsers?.(local, unpacked);
      assert.ok(users !== undefined);
      const pod = { metadata: { name: 'web' }, spec: { securityContext: podSecurity } };
      const verdict = containerSecurity(
        pod as Parameters<typeof containerSecurity>[0],
        { name: 'app', resources: {}, securityContext: security },
        { users, ...(config.user === undefined ? {} : { user: config.user }) },
      );
      if ('problem' in verdict) throw new ContainerConfigError(verdict.problem);
      const running = await runtime.startContainer({
        ...{ id: `id${serial}`, pod: { uid: 'u', namespace: 'default', name: 'web' } },
        ...{ name: 'app', image: 'test', command: [], args: [], variables: {}, mounts: [] },
        ...{
          security: verdict.security,
          directory: own,
          logPath: join(own, 'log'),
          hasStdin: false,
        },
        rootImage: { local, unpacked },
        ...container,
      });
      const { exitCode } = await running.ended;
      const said = readFileSync(join(own, 'log'), 'utf8').replace(/^\S+ \S+ \S+ /gm, '');
      return { code: exitCode, said };
    },
  };
}

const formHere = (): LayerForm =>
  readFileSync('/proc/self/uid_map', 'utf8').trim().split(/\s+/)[2] === '4294967295'
    ? 'trusted'
    : 'user';

function busyboxLayer(directory: string): string {
  const layer = join(directory, 'busybox');
  if (existsSync(layer)) return layer;
  mkdirSync(join(layer, 'bin'), { recursive: true });
  for (const name of ['etc', 'tmp', 'home', 'root']) mkdirSync(join(layer, name));
  chmodSync(join(layer, 'tmp'), 0o1777);
  copyFileSync(busybox, join(layer, 'bin/busybox'));
  for (const name of execFileSync(busybox, ['--list'], { encoding: 'utf8' }).trim().split('\n'))
    if (name !== 'busybox') symlinkSync('busybox', join(layer, 'bin', name));
  return layer;
}

function writeLayer(own: string, layer: Layer): string {
  const top = mkdtempSync(join(own, 'layer-'));
  chmodSync(top, 0o755);
  for (const [name, entry] of Object.entries(layer)) {
    const path = join(top, name);
    if (name.endsWith('/')) {
      mkdirSync(path, { recursive: true });
      continue;
    }
    mkdirSync(dirname(path), { recursive: true });
    if (typeof entry === 'object' && 'link' in entry) symlinkSync(entry.link, path);
    else if (typeof entry === 'string') writeFileSync(path, entry);
    else {
      writeFileSync(path, entry.text);
      chmodSync(path, entry.mode);
    }
  }
  return top;
}

const shell = (script: string): Partial<ImageConfig> => ({ cmd: ['sh', '-c', script] });

test('startContainer() runs what the image says, above all its layers', {
  skip: missing,
}, async (t) => {
  const { run } = await startRuntime(t);
  const { code, said } = await run({
    layers: [{ 'srv/text': 'lower', 'srv/other': 'lower' }, { 'srv/text': 'upper' }],
    config: {
      ...{ entrypoint: ['sh', '-c'], workingDir: '/srv/made', env: ['COLOR=red'] },
      cmd: ['echo $COLOR $PWD; cat ../text ../other; echo; touch new ../new; ls -A /; exit 7'],
    },
  });
  assert.equal(code, 7);
  assert.deepEqual(said.trim().split('\n'), [
    ...['red /srv/made', 'upperlower'],
    ...['bin', 'dev', 'etc', 'home', 'proc', 'root', 'srv', 'sys', 'tmp'],
  ]);
});

test('containers of one image do not see what others write', { skip: missing }, async (t) => {
  const { run, directory } = await startRuntime(t);
  await run({ config: shell('echo mine > /etc/mark; rm /bin/wget') });
  const { said } = await run({ config: shell('ls /etc/mark /bin/wget') });
  assert.match(
    said,
    /\/etc\/mark: No such file[\s\S]*\/bin\/wget|\/bin\/wget[\s\S]*mark: No such file/,
  );
  assert.ok(existsSync(join(directory, 'busybox/bin/busybox')));
  assert.deepEqual(readdirSync(join(directory, 'busybox/etc')), []);
});

test('a container is the user of its image, with its groups and home', {
  skip: missing,
}, async (t) => {
  const { run } = await startRuntime(t);
  const script = 'id -u; id -g; id -G; echo $HOME';
  const named = await run({ layers: [passwd], config: { ...shell(script), user: 'app' } });
  assert.deepEqual(
    named.said
      .trim()
      .split('\n')
      .map((line) => line.trim()),
    [...['1000', '1000', isOneUser() ? '1000' : '1000 50', '/home/app']],
  );
  const root = await run({ layers: [passwd], config: shell('id -u; echo $HOME') });
  assert.equal(root.said, '0\n/root\n');
  await assert.rejects(
    run({ layers: [passwd], config: { ...shell('id'), user: 'postgres' } }),
    /unable to find user postgres: no matching entries in passwd file/,
  );
});

/** Groups beside the one that is mapped do not exist there. */
const isOneUser = (): boolean =>
  readFileSync('/proc/self/uid_map', 'utf8').trim().split(/\s+/)[2] === '1';

test('a read-only root takes writes only below volumes of the image', {
  skip: missing,
}, async (t) => {
  const { run } = await startRuntime(t);
  const { said } = await run({
    layers: [{ 'data/seed': 'grown' }],
    security: { readOnlyRootFilesystem: true },
    config: {
      ...shell('cat /data/seed; echo; echo x > /data/new && cat /data/new; echo x > /etc/new'),
      volumes: ['/data', '/made/here'],
    },
  });
  assert.match(said, /^grown\nx\n.*\/etc\/new: Read-only file system\n$/);
});

test('/dev, /proc and /sys are those of containers', { skip: missing }, async (t) => {
  const { run } = await startRuntime(t);
  const { said } = await run({
    config: shell(
      'ls /dev; cat /dev/null; head -c 2 /dev/zero | wc -c; ls /proc/1/exe >/dev/null; echo x > /sys/kernel/x; echo x > /proc/sys/kernel/domainname; wc -c < /proc/keys; mount | grep -c fairlead-oci',
    ),
  });
  assert.match(
    said,
    /^fd\nfull\nmqueue\nnull\nptmx\npts\nrandom\nshm\nstderr\nstdin\nstdout\ntty\nurandom\nzero\n2\n/,
  );
  assert.match(said, /\/sys\/kernel\/x: (Read-only|Permission denied|nonexistent)/);
  assert.match(said, /domainname: Read-only/);
});

test('set-user-id programs of the image work unless they must not', {
  skip: missing || isOneUser(),
}, async (t) => {
  const { run } = await startRuntime(t);
  const layer: Layer = { ...passwd, 'bin/become': { link: 'busybox' } };
  const config = { ...shell('cat /proc/self/status | grep -E "NoNewPrivs|CapBnd"'), user: 'app' };
  const open = await run({ layers: [layer], config });
  assert.match(open.said, /NoNewPrivs:\s0/);
  const shut = await run({
    layers: [layer],
    config,
    security: { allowPrivilegeEscalation: false },
  });
  assert.match(shut.said, /NoNewPrivs:\s1/);
});

test('programs may change owners and users even where there is only one', {
  skip: missing,
}, async (t) => {
  const { run } = await startRuntime(t);
  const { code, said } = await run({
    layers: [passwd],
    config: shell('touch /tmp/f && chown app:staff /tmp/f && su app -c "echo became" && echo done'),
  });
  assert.deepEqual([code, said], [0, 'became\ndone\n']);
});

/** Each layer tries to lead a mount or a file of the agent out of the container. */
const hostile: Readonly<Record<string, Layer>> = {
  'links in place of system directories': {
    ...{ proc: { link: '/srv' }, 'srv/x': '', sys: { link: '../../srv' } },
    dev: { link: '/srv' },
  },
  'links to the mark of the host': { ...{ etc2: { link: 'HOST' }, mnt: { link: 'HOST' } } },
  'a link in place of the directory for mounts': { '.fairlead': { link: 'HOST' } },
  'a directory in place of the directory for mounts, with links': {
    '.fairlead/volumes': { link: 'HOST' },
    '.fairlead/dev': { link: 'HOST' },
  },
};

for (const [name, layer] of Object.entries(hostile)) {
  test(`an image with ${name} does not reach the host`, { skip: missing }, async (t) => {
    const { run, directory } = await startRuntime(t);
    const host = join(directory, 'host');
    mkdirSync(host);
    writeFileSync(join(host, 'mark'), 'untouched');
    const placed = Object.fromEntries(
      Object.entries(layer).map(([path, entry]) => [
        path,
        typeof entry === 'object' && 'link' in entry
          ? { link: entry.link.replace('HOST', host) }
          : entry,
      ]),
    );
    const volume = join(directory, 'volume');
    mkdirSync(volume);
    writeFileSync(join(volume, 'key'), 'volume');
    const outcome = await run({
      layers: [placed],
      config: {
        ...shell('cat /mnt/sub/key; echo; cat /mnt/mark; ls /.fairlead'),
        workingDir: '/mnt/work',
      },
      container: { mounts: [{ source: volume, path: '/mnt/sub', isReadOnly: false }] },
    }).catch((error: Error) => ({ code: 128, said: error.message }));
    // It may start or be refused; the host's file is neither seen nor changed.
    assert.doesNotMatch(outcome.said, /untouched/);
    assert.deepEqual(readdirSync(host), ['mark']);
    assert.deepEqual(readdirSync(volume), ['key']);
  });
}

test('files of the system replace links of the image', { skip: missing }, async (t) => {
  const { run, directory } = await startRuntime(t);
  const source = join(directory, 'resolv.conf');
  writeFileSync(source, 'nameserver 10.96.0.10\n');
  const target = join(directory, 'target');
  for (const link of ['../run/systemd/resolve/stub-resolv.conf', target, '/proc/self/mem']) {
    const { said } = await run({
      layers: [{ 'etc/resolv.conf': { link } }],
      config: shell('cat /etc/resolv.conf'),
      container: {
        mounts: [{ source, path: '/etc/resolv.conf', isReadOnly: false, replaces: true }],
      },
    });
    assert.equal(said, 'nameserver 10.96.0.10\n', link);
  }
  assert.equal(existsSync(target), false);
});

test('users that are no file, too large, or behind a link of the host', {
  skip: missing,
}, async (t) => {
  const { run, directory } = await startRuntime(t);
  const own = join(directory, 'fifo');
  const config = { ...shell('id -u'), user: 'app' };
  mkdirSync(own);
  await assert.rejects(
    run({ layers: [{ 'etc/passwd/': '' }], config }),
    /\/etc\/passwd of the image is not a file/,
  );
  await assert.rejects(
    run({ layers: [{ 'etc/passwd': 'x'.repeat(2_000_000) }], config }),
    /\/etc\/passwd of the image has 2000000 bytes, want at most 1048576/,
  );
  const secret = join(directory, 'passwd');
  writeFileSync(secret, 'app:x:1:1::/:\n');
  await assert.rejects(
    run({ layers: [{ 'etc/passwd': { link: secret } }], config }),
    /unable to find user app/,
  );
  const linked = await run({
    layers: [{ 'usr/users': 'app:x:4321:1::/:\n', 'etc/passwd': { link: '/usr/users' } }],
    config,
  });
  assert.equal(linked.said, '4321\n');
});

test('an image can be a volume, read-only, whole or in part', { skip: missing }, async (t) => {
  const { run, directory } = await startRuntime(t);
  const image = {
    form: formHere(),
    directories: [
      writeLayer(directory, { 'site/page': 'hello', 'site/out': { link: '/etc' } }),
      writeLayer(directory, { 'other/page': 'more' }),
    ],
  };
  const { said } = await run({
    config: shell('cat /whole/site/page /whole/other/page /part/page; echo; echo x > /part/new'),
    container: {
      mounts: [
        { source: '', path: '/whole', isReadOnly: true, image },
        { source: '', path: '/part', isReadOnly: true, image, imagePath: 'site' },
      ],
    },
  });
  assert.match(said, /^hellomorehello\n.*Read-only file system\n$/);
});

test('enter() starts a program with the files and the user of the container', {
  skip: missing,
}, async (t) => {
  const { runtime, directory } = await startRuntime(t);
  const own = join(directory, 'entered');
  mkdirSync(own);
  const unpacked = {
    form: formHere(),
    directories: [busyboxLayer(directory), writeLayer(own, passwd)],
  };
  const local = {
    ...{ id: 'sha256:entered', names: [], digests: [], sizeBytes: 0, layers: [] },
    ...{ pulledAt: 0, lastUsed: 0, config: { ...bare, stopSignal: 'SIGQUIT' } },
  };
  const pod = { metadata: {}, spec: {} } as Parameters<typeof containerSecurity>[0];
  const verdict = containerSecurity(
    pod,
    { name: 'app', resources: {} },
    { users: { users: [], groups: [] } },
  );
  assert.ok('security' in verdict);
  const running = await runtime.startContainer({
    ...{ id: 'entered', pod: { uid: 'u', namespace: 'default', name: 'web' } },
    ...{
      name: 'app',
      image: 'test',
      command: ['sh', '-c', 'trap "exit 5" QUIT; echo up; while :; do sleep 0.1; done'],
    },
    ...{ args: [], variables: {}, mounts: [], security: verdict.security, directory: own },
    ...{ logPath: join(own, 'log'), hasStdin: false, rootImage: { local, unpacked } },
  });
  assert.equal(running.runtimeName, 'oci');
  const entered = await running.enter(['cat', '/etc/group']);
  assert.match(await text(entered.output), /staff:x:50:app/);
  while (!readFileSync(join(own, 'log'), 'utf8').includes('up'))
    await new Promise((r) => setTimeout(r, 5));
  running.signal(running.stopSignal ?? 'SIGTERM');
  assert.deepEqual(await running.ended, { exitCode: 5 });
});

test('containers are copies of their image where overlays do not work', {
  skip: missing,
}, async (t) => {
  const { run, directory } = await startRuntime(t, 'files');
  const config = {
    ...shell('cat /etc/text; id -u; ls -A / /gone; echo x > /etc/new'),
    user: 'app',
  };
  const layers: readonly Layer[] = [
    passwd,
    { 'etc/text': 'lower', 'gone/a': '', 'gone/b': '' },
    { 'etc/text': 'upper', 'gone/.wh.a': '' },
  ];
  const { said } = await run({ layers, config });
  assert.match(
    said,
    /^upper1000\n\/:\nbin\ndev\netc\ngone\nhome\nproc\nroot\nsys\ntmp\n\n\/gone:\nb\n/,
  );
  assert.deepEqual(readdirSync(join(directory, 'busybox/etc')), []);
});
