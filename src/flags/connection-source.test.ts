import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from './command.ts';
import { connectionSource } from './connection-source.ts';

type Case = {
  readonly name: string;
  readonly flag?: string;
  readonly env?: string;
  readonly files?: readonly string[];
  readonly mayUseHome?: boolean;
  readonly isKubectlPlugin?: boolean;
  readonly isInCluster?: boolean;
  readonly found: readonly string[] | 'in-cluster' | RegExp;
};

const own = '/here/.fairlead/kubeconfig';
const home = '/home/me/.kube/config';
const all = [own, home];

const cases: readonly Case[] = [
  { name: 'takes the flag', flag: 'kc', env: '/env', files: ['/env'], found: ['/here/kc'] },
  { name: 'takes $KUBECONFIG', env: '/a:/b', files: ['/a', '/b', ...all], found: ['/a', '/b'] },
  { name: 'leaves out what is not there', env: '/a:b', files: ['/here/b'], found: ['/here/b'] },
  {
    name: 'keeps the path of a missing file for the message',
    env: '/a',
    files: all,
    found: ['/a'],
  },
  { name: 'takes that of `up`', env: '', files: all, mayUseHome: true, found: [own] },
  {
    name: "takes kubectl's for commands that read",
    files: [home],
    mayUseHome: true,
    found: [home],
  },
  {
    name: "leaves kubectl's to others",
    files: [home],
    found: /no \$KUBECONFIG and no \.fairlead\/kubeconfig here\. Start/,
  },
  { name: "takes kubectl's as its plugin", files: all, isKubectlPlugin: true, found: [home] },
  {
    name: 'prefers a kubeconfig to the service account',
    files: all,
    isInCluster: true,
    found: [own],
  },
  { name: 'takes the service account', files: [home], isInCluster: true, found: 'in-cluster' },
  {
    name: 'takes the service account as a plugin',
    isInCluster: true,
    isKubectlPlugin: true,
    found: 'in-cluster',
  },
  {
    name: 'says what is missing',
    mayUseHome: true,
    found: /no \.fairlead\/kubeconfig here and no ~\/\.kube\/config\. Start/,
  },
  {
    name: 'says what is missing to a plugin',
    isKubectlPlugin: true,
    found: /no \$KUBECONFIG and no ~\/\.kube\/config\. Name/,
  },
];
for (const { name, flag, env, files = [], found, isInCluster = false, ...more } of cases) {
  const { mayUseHome = false, isKubectlPlugin = false } = more;
  test(`connectionSource() ${name}`, () => {
    const find = () =>
      connectionSource(
        {
          ...(flag === undefined ? {} : { kubeconfig: flag }),
          ...{ mayUseHome, exists: (path) => files.includes(path), isInCluster: () => isInCluster },
        },
        {
          env: { HOME: '/home/me', ...(env === undefined ? {} : { KUBECONFIG: env }) },
          cwd: () => '/here',
          isKubectlPlugin,
        },
      );
    if (found instanceof RegExp) {
      assert.throws(find, (error) => error instanceof UsageError && found.test(error.message));
    } else if (found === 'in-cluster') assert.deepEqual(find(), { kind: 'in-cluster' });
    else assert.deepEqual(find(), { kind: 'kubeconfig', paths: found });
  });
}
