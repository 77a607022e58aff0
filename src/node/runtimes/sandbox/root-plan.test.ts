import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HostFiles, planRoot, type RootStep } from './root-plan.ts';

const directories = ['/', '/dev', '/etc', '/etc/ssl', '/run', '/usr', '/pods/a', '/pods/b'];
const files = ['/dev/null', '/dev/disk', '/etc/hosts', '/run/resolv.conf', '/pods/hosts'];
const links: Readonly<Record<string, string>> = {
  '/var': '/run',
  '/etc/resolv.conf': '/run/resolv.conf',
  '/etc/gone': '/nowhere/gone',
};

const host: HostFiles = {
  entries: (directory) =>
    [...directories, ...files, ...Object.keys(links)]
      .filter(
        (path) => path !== '/' && path.replace(/\/[^/]*$/, '') === directory.replace(/\/$/, ''),
      )
      .map((path) => {
        const name = path.slice(path.lastIndexOf('/') + 1);
        const target = links[path];
        if (target !== undefined) return { name, kind: 'link', target };
        return { name, kind: directories.includes(path) ? 'directory' : 'file' };
      }),
  resolve(path) {
    const real = Object.entries(links).reduce(
      (at, [link, target]) =>
        at === link || at.startsWith(`${link}/`) ? target + at.slice(link.length) : at,
      path,
    );
    return directories.includes(real) || files.includes(real) ? real : undefined;
  },
  isDirectory: (path) => directories.includes(links[path] ?? path),
};

function text(step: RootStep): string {
  if (step.kind === 'bind')
    return `bind ${step.source} ${step.destination}${step.isReadOnly ? ' ro' : ''}`;
  return step.kind === 'link'
    ? `link ${step.destination} ${step.target}`
    : `${step.kind} ${step.destination}`;
}

function plan(...mounts: readonly (readonly [string, string])[]): readonly string[] {
  const all = planRoot({
    root: '/',
    host,
    mounts: mounts.map(([source, path]) => ({
      ...{ source, path, isReadOnly: false },
      isDirectory: host.isDirectory(source),
    })),
  });
  const texts = [...all.root, ...all.volumes].map(text);
  return texts.slice(texts.indexOf('link /var /run') + 1);
}

test('planRoot() bind-mounts directories of the host, and copies its links', () => {
  assert.deepEqual(planRoot({ root: '/', host, mounts: [] }).root.map(text), [
    'directory /dev',
    'bind /dev /dev',
    'directory /etc',
    'bind /etc /etc',
    'directory /run',
    'bind /run /run',
    'directory /usr',
    'bind /usr /usr',
    'link /var /run',
  ]);
});

test('planRoot() mounts a volume over an existing path, with links resolved', () => {
  assert.deepEqual(plan(['/pods/hosts', '/etc/hosts'], ['/pods/hosts', '/etc/resolv.conf']), [
    'bind /pods/hosts /etc/hosts',
    'bind /pods/hosts /run/resolv.conf',
  ]);
});

test('planRoot() creates missing mount points in the root only once', () => {
  assert.deepEqual(plan(['/pods/a', '/data/a'], ['/pods/hosts', '/data/file']), [
    'directory /data',
    'directory /data/a',
    'bind /pods/a /data/a',
    'file /data/file',
    'bind /pods/hosts /data/file',
  ]);
});

test('planRoot() replaces a directory of the host that lacks a mount point, and keeps its entries', () => {
  assert.deepEqual(plan(['/pods/hosts', '/etc/hosts'], ['/pods/a', '/etc/app/config']), [
    'directory /.fairlead',
    'directory /.fairlead/0',
    'bind /etc /.fairlead/0',
    'memory /etc',
    'link /etc/ssl /.fairlead/0/ssl',
    'link /etc/hosts /.fairlead/0/hosts',
    'link /etc/resolv.conf /run/resolv.conf',
    'link /etc/gone /nowhere/gone',
    'bind /pods/hosts /.fairlead/0/hosts',
    'directory /etc/app',
    'directory /etc/app/config',
    'bind /pods/a /etc/app/config',
  ]);
});

test('planRoot() mounts a volume inside another one', () => {
  assert.deepEqual(plan(['/pods/b', '/data/x/y'], ['/pods/a', '/data']), [
    'directory /data',
    'bind /pods/a /data',
    'directory /data/x',
    'directory /data/x/y',
    'bind /pods/b /data/x/y',
  ]);
});

test('planRoot() masks paths, also in replaced directories, and adds private directories', () => {
  const { root, volumes } = planRoot({
    root: '/',
    host,
    isReadOnly: true,
    mounts: [{ source: '/pods/a', path: '/etc/app', isReadOnly: false, isDirectory: true }],
    masked: [
      { path: '/etc/shadow', isDirectory: false },
      { path: '/usr/keys', isDirectory: true },
    ],
    own: [
      { destination: '/tmp', source: '/pods/tmp', mode: 0o1777 },
      { destination: '/root', mode: 0o700 },
    ],
  });
  const texts = root.map(text);
  assert.ok(texts.includes('bind /etc /etc ro'));
  assert.deepEqual(texts.slice(-5), [
    'hide /.fairlead/0/shadow',
    'hide /usr/keys',
    'directory /tmp',
    'bind /pods/tmp /tmp',
    'directory /root',
  ]);
  assert.deepEqual(volumes.map(text), ['directory /etc/app', 'bind /pods/a /etc/app']);
});

test('planRoot() replaces a dangling link by a mount', () => {
  const [, ...steps] = plan(['/pods/hosts', '/etc/gone']);
  assert.ok(!steps.some((step) => step.startsWith('link /etc/gone')), steps.join('\n'));
  assert.deepEqual(steps.slice(-2), ['file /etc/gone', 'bind /pods/hosts /etc/gone']);
});

test('planRoot() marks directories of this machine as ownerless, but not volumes', () => {
  const mounts = [{ source: '/pods/a', path: '/etc/new', isReadOnly: false, isDirectory: true }];
  const own = [{ destination: '/tmp', source: '/pods/b', mode: 0o1777 }];
  const all = planRoot({ root: '/', host, mounts, own, isOwnerless: true });
  const binds = [...all.root, ...all.volumes].filter((step) => step.kind === 'bind');
  const sources = binds.flatMap((step) => (step.isOwnerless ? [step.source] : []));
  const others = binds.flatMap((step) => (step.isOwnerless ? [] : [step.source]));
  assert.ok(sources.filter((source) => source === '/etc').length === 2, sources.join(' '));
  assert.deepEqual(others, ['/pods/b', '/pods/a']);
});
