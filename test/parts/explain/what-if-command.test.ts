// The command against a real API server: what it prints, how it ends, and that a failure is one sentence.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { WhatIf } from '../../../src/what-if/what-if.ts';
import { freePort } from '../harness/free-port.ts';
import { kubeconfigText } from '../harness/kubectl.ts';
import { startMemoryServer } from '../harness/memory-server.ts';
import { type Ran, runCommand } from '../harness/run-command.ts';

const timeout = 120_000;

const files: Readonly<Record<string, string>> = {
  'policy.yaml':
    '{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {internalTrafficPolicy: Local, ports: [{port: 80}]}}',
  'invalid.yaml':
    '{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80000}]}}',
  'nowhere.yaml':
    '{apiVersion: v1, kind: Service, metadata: {name: web, namespace: nowhere}, spec: {ports: [{port: 80}]}}',
  'unnamed.yaml': '{apiVersion: v1, kind: Service, metadata: {}, spec: {ports: [{port: 80}]}}',
  'other.yaml': '{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: web}}',
  'self.yaml':
    '{apiVersion: v1, kind: Service, metadata: {name: self}, spec: {type: ExternalName, externalName: self.default.svc.cluster.local}}',
  'alias.yaml':
    '{apiVersion: v1, kind: Service, metadata: {name: alias}, spec: {type: ExternalName, externalName: example.com}}',
  'text.yaml': 'just some text',
  'twice/a.yaml':
    '{apiVersion: v1, kind: Service, metadata: {name: new}, spec: {ports: [{port: 80}]}}',
  'twice/b.yaml':
    '{apiVersion: v1, kind: Service, metadata: {name: new}, spec: {ports: [{port: 81}]}}',
};

type Started = { readonly whatIf: (line: string, kubeconfig?: string) => Promise<Ran> } & {
  readonly stop: () => Promise<void>;
};

async function start(): Promise<Started> {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-what-if-'));
  const { server, api, stop } = await startMemoryServer();
  writeFileSync(join(directory, 'kubeconfig'), kubeconfigText(server.address.port));
  writeFileSync(join(directory, 'away'), kubeconfigText(await freePort()));
  mkdirSync(join(directory, 'twice'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  await api.post('/api/v1/namespaces/default/services', {
    metadata: { name: 'web' },
    spec: { ports: [{ port: 80 }] },
  });
  await api.post('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
    metadata: { name: 'web-x', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    ports: [{ name: '', port: 80, protocol: 'TCP' }],
    endpoints: [{ addresses: ['192.0.2.10'], conditions: { ready: true } }],
  });
  return {
    whatIf: (line, kubeconfig = 'kubeconfig') =>
      runCommand(`what-if --kubeconfig ${kubeconfig} ${line}`, directory),
    async stop() {
      await stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

let started: Started;
const whatIf: Started['whatIf'] = (...args) => started.whatIf(...args);
before(async () => {
  started = await start();
});
after(() => started.stop());

describe('fairlead what-if', { timeout }, () => {
  test('prints JSON whose fields are promised', async () => {
    const { code, out, err } = await whatIf('--delete svc/web -o json');
    assert.deepEqual([code, err], [0, '']);
    const found = JSON.parse(out) as WhatIf;
    assert.deepEqual([found.apiVersion, found.kind], ['fairlead.dev/v1', 'WhatIf']);
    assert.equal(found.verdict.level, 'outage');
    assert.match(found.resourceVersion ?? '', /^\d+$/);
  });

  test('ends with 1 from the level on that --fail-on names, and with 0 otherwise', async () => {
    assert.equal((await whatIf('--delete svc/web')).code, 0);
    assert.equal((await whatIf('--delete svc/web --fail-on outage')).code, 1);
    assert.equal((await whatIf('--set svc/web:sessionAffinity=ClientIP --fail-on change')).code, 0);
    assert.equal((await whatIf('--set svc/web:type=NodePort --fail-on change')).code, 1);
    assert.equal((await whatIf('--set svc/web:type=NodePort --fail-on interruption')).code, 0);
  });

  test('makes changes in the order in which they stand', async () => {
    const type = '--set svc/web:type=NodePort';
    const port = '--set svc/web:ports[0].nodePort=30080';
    assert.equal((await whatIf(`${type} ${port}`)).code, 0);
    const { code, err } = await whatIf(`${port} ${type}`);
    assert.equal(code, 2);
    assert.match(err, /may not be used when `type` is 'ClusterIP'/);
    const again = await whatIf('-f twice -o json');
    const { changes } = JSON.parse(again.out) as WhatIf;
    assert.deepEqual(
      changes.map((text) => text.split(' ').at(-1)),
      ['created', 'configured'],
    );
  });

  test('reads manifests, and leaves out what changes no Service', async () => {
    assert.match((await whatIf('-f policy.yaml')).out, /^Outage: Service default\/web loses/);
    const other = await whatIf('-f other.yaml');
    assert.match(other.out, /^Nothing changes for any Service\n/);
    assert.match(other.out, /Objects of kind Certificate are left out/);
  });

  test('is not led astray by a name that leads to itself', async () => {
    assert.equal((await whatIf('-f self.yaml')).code, 0);
    assert.match(
      (await whatIf('-f alias.yaml')).out,
      /name alias\.default\.svc\.cluster\.local A appears/,
    );
  });
});

describe('fairlead what-if that cannot answer', { timeout }, () => {
  const refused: readonly (readonly [string, RegExp])[] = [
    ['-v', /there is nothing to compare/],
    ['--drain n1', /--drain: "n1" is no such change, want node\/NAME/],
    ['--drain node/n1', /nodes "n1" not found/],
    [
      '--delete svc/web --set svc/web:type=NodePort',
      /--delete svc\/web has removed Service default\/web/,
    ],
    ['--set svc/web:type=A --set svc/web:type=B', /Unsupported value: "A"/],
    ['--set svc/web:type=NodePort --set svc/web:type=ClusterIP', /contradict each other/],
    ['--delete pod/\u001b[31m', /"pod\/\\x1b\[31m"/],
    ['-f missing.yaml', /the path "missing.yaml" does not exist/],
    ['-f text.yaml', /text.yaml/],
    [
      '-f invalid.yaml',
      /invalid.yaml:1: Service "web": .*spec.ports\[1\].port: Invalid value: 80000/,
    ],
    ['-f nowhere.yaml', /namespaces "nowhere" not found/],
    ['-f unnamed.yaml', /resource name may not be empty/],
    ['--cordon node/n1 --proxy-mode none', /"none" is no mode/],
    ['--scale sts/db=3', /StatefulSet default\/db is not known/],
  ];
  for (const [line, why] of refused) {
    test(`ends with 2 and a sentence after ${JSON.stringify(line)}`, async () => {
      const { code, out, err } = await whatIf(line);
      assert.deepEqual([code, out], [2, '']);
      assert.match(err, why);
      assert.doesNotMatch(err, /\n {4}at /);
      assert.ok(!err.includes('\u001b'));
    });
  }

  test('says bad input before it connects, and that a server is not there', async () => {
    assert.match((await whatIf('--scale deploy/web=x', 'away')).err, /is no such change/);
    const { code, err } = await whatIf('--scale deploy/web=1', 'away');
    assert.equal(code, 2);
    assert.match(err, /^The connection to the server 127\.0\.0\.1:\d+ was refused[^\n]*\n$/);
  });
});
