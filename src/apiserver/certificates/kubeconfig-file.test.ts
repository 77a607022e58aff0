import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { renderKubeconfig, writeKubeconfig } from './kubeconfig-file.ts';

const options = {
  server: 'https://[::1]:6443',
  authority: 'the authority\n',
  client: { certificate: 'the certificate\n', privateKey: 'the key\n' },
};

test('renderKubeconfig() gives one cluster, user and context', () => {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  assert.deepEqual(parse(renderKubeconfig(options)), {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'fairlead',
        cluster: {
          server: options.server,
          'certificate-authority-data': base64('the authority\n'),
        },
      },
    ],
    contexts: [{ name: 'fairlead', context: { cluster: 'fairlead', user: 'fairlead' } }],
    'current-context': 'fairlead',
    users: [
      {
        name: 'fairlead',
        user: {
          'client-certificate-data': base64('the certificate\n'),
          'client-key-data': base64('the key\n'),
        },
      },
    ],
  });
});

test('writeKubeconfig() replaces the file and keeps it to its owner', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
  try {
    const path = join(directory, 'kubeconfig');
    await writeKubeconfig(path, { ...options, server: 'https://127.0.0.1:1' });
    await writeKubeconfig(path, options);
    assert.equal(await readFile(path, 'utf8'), renderKubeconfig(options));
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    await assert.rejects(
      writeKubeconfig(join(directory, 'missing', 'kubeconfig'), options),
      /Cannot write/,
    );
  } finally {
    await rm(directory, { recursive: true });
  }
});
