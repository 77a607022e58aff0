import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HostFiles, planRoot, type RootStep } from './root-plan.ts';

const directories = ['/', '/dev', '/etc', '/etc/ssl', '/run', '/usr', '/pods/a', '/pods/b'];
const files = ['/dev/null', '/dev/disk', '/etc/hosts', '/run/resolv.conf', '/pods/hosts'];
const links: Readonly<Record<string, string>> = {
  '/var': '/run',
  '/etc/resolv.conf': '/run/resolv.conf',
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
    return `bind ${step.source} ${step.place}${step.isReadOnly ? ' ro' : ''}`;
  return step.kind === 'link' ? `link ${step.place} ${step.target}` : `${step.kind} ${step.place}`;
}

function plan(...mounts: readonly (readonly [string, string])[]): readonly string[] {
  const all = planRoot({
    root: '/',
    host,
    mounts: mounts.map(([source, path]) => ({ source, path, isReadOnly: false })),
  }).map(text);
  return all.slice(all.indexOf('link /var /run') + 1);
}

test('planRoot() binds what the host has, and keeps its links', () => {
  assert.deepEqual(planRoot({ root: '/', host, mounts: [] }).map(text), [
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

test('planRoot() puts a volume where there is something, behind links', () => {
  assert.deepEqual(plan(['/pods/hosts', '/etc/hosts'], ['/pods/hosts', '/etc/resolv.conf']), [
    'bind /pods/hosts /etc/hosts',
    'bind /pods/hosts /run/resolv.conf',
  ]);
});

test('planRoot() makes new places in the root, once', () => {
  assert.deepEqual(plan(['/pods/a', '/data/a'], ['/pods/hosts', '/data/file']), [
    'directory /data',
    'directory /data/a',
    'bind /pods/a /data/a',
    'file /data/file',
    'bind /pods/hosts /data/file',
  ]);
});

test('planRoot() replaces a directory of the host that lacks a place, and what was in it stays', () => {
  assert.deepEqual(plan(['/pods/hosts', '/etc/hosts'], ['/pods/a', '/etc/app/config']), [
    'directory /.fairlead',
    'directory /.fairlead/0',
    'bind /etc /.fairlead/0',
    'memory /etc',
    'link /etc/ssl /.fairlead/0/ssl',
    'link /etc/hosts /.fairlead/0/hosts',
    'link /etc/resolv.conf /run/resolv.conf',
    'bind /pods/hosts /.fairlead/0/hosts',
    'directory /etc/app',
    'directory /etc/app/config',
    'bind /pods/a /etc/app/config',
  ]);
});

test('planRoot() puts a volume into a volume', () => {
  assert.deepEqual(plan(['/pods/b', '/data/x/y'], ['/pods/a', '/data']), [
    'directory /data',
    'bind /pods/a /data',
    'directory /data/x',
    'directory /data/x/y',
    'bind /pods/b /data/x/y',
  ]);
});

test('planRoot() keeps the devices that programs look at closely', () => {
  assert.deepEqual(plan(['/pods/hosts', '/dev/termination-log']).slice(3), [
    'memory /dev',
    'file /dev/null',
    'bind /dev/null /dev/null',
    'link /dev/disk /.fairlead/0/disk',
    'file /dev/termination-log',
    'bind /pods/hosts /dev/termination-log',
  ]);
});
