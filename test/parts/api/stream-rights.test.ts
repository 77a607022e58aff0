// Commands, terminals and ports of containers take the right to create, by whatever way and method: a WebSocket begins with a GET, and
// who may only read a node runs nothing on it.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { WebSocket } from 'ws';
import { issueClientCertificate } from '../../../src/apiserver/certificates/authority.ts';
import { isPodReady } from '../../../src/kinds/pod/readiness.ts';
import { testCredentials } from '../harness/memory-server.ts';
import { type NodeHarness, startNodeHarness } from '../harness/node-harness.ts';

const limit = { timeout: 60_000 };
const rbacGroup = 'rbac.authorization.k8s.io';
const rbac = `/apis/${rbacGroup}/v1`;

async function allow(
  { api }: NodeHarness,
  user: string,
  verbs: readonly string[],
  resources: readonly string[],
): Promise<void> {
  const rules = [{ verbs, apiGroups: [''], resources }];
  await api.post(`${rbac}/clusterroles`, { metadata: { name: user }, rules });
  await api.post(`${rbac}/clusterrolebindings`, {
    metadata: { name: user },
    subjects: [{ kind: 'User', apiGroup: rbacGroup, name: user }],
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: user },
  });
}

/** The status of the answer to a WebSocket's request: 101 when it was opened. */
async function open(user: string, port: number, path: string): Promise<number> {
  const { authority } = testCredentials();
  const request = { commonName: user, days: 1, now: Date.now() };
  const { certificate: cert, privateKey: key } = issueClientCertificate(authority, request);
  const socket = new WebSocket(`wss://127.0.0.1:${port}${path}`, ['v4.channel.k8s.io'], {
    ...{ cert, key, rejectUnauthorized: false },
  });
  socket.on('error', () => {});
  const status = await new Promise<number>((resolve) => {
    socket.once('open', () => resolve(101));
    socket.once('unexpected-response', (_request, { statusCode = 0 }) => resolve(statusCode));
  });
  socket.terminate();
  return status;
}

const streams = [
  'exec/default/web/app?command=cat&input=1&output=1',
  'attach/default/web/app?output=1',
  'portForward/default/web?port=1',
];

async function start(t: TestContext): Promise<NodeHarness> {
  const harness = await startNodeHarness(t);
  const containers = [{ name: 'app', image: 'process', command: ['sleep', '1000'] }];
  await harness.run('web', { terminationGracePeriodSeconds: 0, containers });
  await harness.until('web', isPodReady);
  await allow(harness, 'reader', ['get', 'list', 'watch'], ['*']);
  await allow(harness, 'runner', ['get', 'create'], ['nodes/proxy']);
  return harness;
}

test('streams of the agent take the right to create', limit, async (t) => {
  const harness = await start(t);
  const { port: serverPort } = harness.server.server.address;
  const agentPort = harness.node.server?.port ?? 0;
  const ways: Readonly<Record<string, readonly [number, string]>> = {
    'by nodes/proxy': [serverPort, '/api/v1/nodes/node-1/proxy/'],
    'by the port of the agent': [serverPort, `/api/v1/nodes/http:node-1:${agentPort}/proxy/`],
    'at the agent': [agentPort, '/'],
  };
  for (const [name, [port, prefix]] of Object.entries(ways)) {
    for (const stream of streams) {
      assert.equal(await open('reader', port, prefix + stream), 403, `reader, ${name}: ${stream}`);
      assert.equal(await open('runner', port, prefix + stream), 101, `${name}: ${stream}`);
    }
  }
});

test('what is read of an agent takes the right to get alone', limit, async (t) => {
  const { api } = await start(t);
  const headers = { 'impersonate-user': 'reader' };
  for (const path of ['healthz', 'pods', 'containerLogs/default/web/app']) {
    const { status } = await api.send({
      method: 'GET',
      path: `/api/v1/nodes/node-1/proxy/${path}`,
      headers,
    });
    assert.equal(status, 200, path);
  }
});
