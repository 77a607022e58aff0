import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectionText, kubeconfigPaths } from './client-flags.ts';
import { UsageError } from './command.ts';

const cases: readonly {
  name: string;
  flag?: string;
  env?: string;
  files: readonly string[];
  paths: readonly string[] | undefined;
}[] = [
  { name: 'takes the flag', flag: 'kc', env: '/env', files: ['/env'], paths: ['/here/kc'] },
  { name: 'takes $KUBECONFIG', env: '/a:/b', files: ['/a', '/b'], paths: ['/a', '/b'] },
  { name: 'leaves out what is not there', env: '/a:b', files: ['/here/b'], paths: ['/here/b'] },
  {
    name: 'keeps the path of a missing file for the error message',
    env: '/a',
    files: [],
    paths: ['/a'],
  },
  {
    name: 'takes that of `up`',
    env: '',
    files: ['/here/.fairlead/kubeconfig'],
    paths: ['/here/.fairlead/kubeconfig'],
  },
  { name: 'says what to do without any', files: [], paths: undefined },
];
for (const { name, flag, env, files, paths } of cases) {
  test(`kubeconfigPaths() ${name}`, () => {
    const find = (): readonly string[] =>
      kubeconfigPaths(
        flag === undefined ? {} : { kubeconfig: flag },
        { env: env === undefined ? {} : { KUBECONFIG: env }, cwd: () => '/here' },
        (path) => files.includes(path),
      );
    if (paths === undefined) assert.throws(find, UsageError);
    else assert.deepEqual(find(), paths);
  });
}

const failures: Readonly<Record<string, [code: string, said: RegExp]>> = {
  'a refused connection': [
    'ECONNREFUSED',
    /^The connection to the server 10\.0\.0\.1:6443 was refused/,
  ],
  'a damaged certificate': [
    'ERR_OSSL_PEM_NO_START_LINE',
    /key of the kubeconfig is damaged \(what\)/,
  ],
  'an unknown authority': ['SELF_SIGNED_CERT_IN_CHAIN', /what; the kubeconfig names no authority/],
  'anything else': ['EHOSTUNREACH', /^Unable to connect to the server: what$/],
};
for (const [what, [code, said]] of Object.entries(failures)) {
  test(`connectionText() explains ${what}`, () => {
    const error = Object.assign(new Error('what'), { code });
    assert.match(connectionText(error, 'https://10.0.0.1:6443') ?? '', said);
  });
}

test('connectionText() ignores errors other than connection failures', () => {
  assert.equal(connectionText(new Error('what'), 'https://10.0.0.1:6443'), undefined);
});
