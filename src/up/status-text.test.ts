import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UpState } from '../flags/state-file.ts';
import { statusText } from './status-text.ts';

const relay = {
  key: 'TCP 127.0.0.1:30080',
  protocol: 'TCP',
  listen: { host: '127.0.0.1', port: 30080 },
  target: { host: '172.30.0.2', port: 30080 },
  from: 'lan',
  purpose: 'node port',
  service: 'default/web',
} as const;

const state: UpState = {
  pid: 71,
  innerPid: 2,
  version: '1.0.0',
  startedAt: Date.parse('2026-01-01T00:00:00Z'),
  network: 'isolated',
  networkText: 'isolated: 1 node',
  url: 'https://127.0.0.1:6443',
  kubeconfig: '/data/kubeconfig',
  dataDir: '/data',
  nodes: [
    {
      name: 'node-1',
      addresses: ['172.30.0.2', 'fd30::2'],
      proxy: 'nftables (IPv4)',
      dataDirectory: '/n',
    },
  ],
  dns: ['10.96.0.10'],
  domain: 'cluster.local',
  relays: [relay],
};

test('statusText() lists parts, nodes and relays', () => {
  assert.equal(
    statusText(state, state.startedAt + 125_000),
    `Running      since 2026-01-01T00:00:00.000Z (2m), process 71, version 1.0.0
API server   https://127.0.0.1:6443
Kubeconfig   /data/kubeconfig
Data         /data
Network      isolated: 1 node
Nodes        node-1 at 172.30.0.2, fd30::2; proxy nftables (IPv4)
DNS          10.96.0.10 for cluster.local
Relays       127.0.0.1:30080/TCP is the node port of default/web
`,
  );
});

test('statusText() says why a relay failed, and omits empty rows', () => {
  const text = statusText(
    { ...state, nodes: [], dns: [], relays: [{ ...relay, problem: 'the port is taken' }] },
    state.startedAt,
  );
  assert.match(text, /cannot be the node port of default\/web: the port is taken/);
  assert.doesNotMatch(text, /Nodes|DNS/);
});

test('statusText() shows images that are being pulled', () => {
  const layers = { layers: 3, layersDone: 1, doneBytes: 12_000_000, totalBytes: 48_000_000 };
  const text = statusText(
    {
      ...state,
      pulls: [
        { image: 'docker.io/library/nginx:stable', ...layers },
        { image: 'registry.example/app:1', layers: 0, layersDone: 0, doneBytes: 0, totalBytes: 0 },
      ],
    },
    state.startedAt,
  );
  assert.match(
    text,
    /Pulling {6}docker\.io\/library\/nginx:stable: 1 of 3 layers, 12\.0 MB of 48\.0 MB \(25%\)\n {13}registry\.example\/app:1\n/,
  );
});
