// Two clusters side by side on one machine: each has loopback addresses of its own, and addresses in use by others are reported.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { RelayState } from '../../src/relay/run.ts';
import {
  ask,
  endWith,
  makeDirectory,
  removeDirectory,
  startUp,
  type Up,
  until,
} from './up-harness.ts';

const timeout = 300_000;
const nodePort = 31_907;

const manifest = (answer: string): string => `
apiVersion: v1
kind: Pod
metadata: { name: web, labels: { app: web } }
spec:
  containers:
    - name: web
      image: process
      command: [node, -e, "require('http').createServer((_, r) => r.end('${answer}')).listen(8080)"]
      readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 }
---
apiVersion: v1
kind: Service
metadata: { name: web }
spec:
  type: LoadBalancer
  externalIPs: [198.51.100.32]
  selector: { app: web }
  ports: [{ name: http, port: 8081, targetPort: 8080, nodePort: ${nodePort} }]
`;

describe('two clusters on one machine', { timeout }, () => {
  const clusters: { readonly directory: string; readonly up: Up }[] = [];

  before(async () => {
    for (const answer of ['first', 'second']) {
      const directory = makeDirectory('root');
      const up = await startUp('root', directory, []);
      clusters.push({ directory, up });
      const file = join(directory, 'web.yaml');
      writeFileSync(file, manifest(answer));
      await up.kubectl('wait', '--for=create', 'serviceaccount/default', '--timeout=60s');
      await up.kubectl('apply', '-f', file);
      await up.kubectl('wait', '--for=condition=Ready', 'pod/web', '--timeout=100s');
    }
  });
  after(async () => {
    for (const { up, directory } of clusters) {
      await endWith(up, 'SIGTERM');
      removeDirectory(directory);
    }
  });

  for (const purpose of ['node port', 'load balancer', 'external IP'] as const) {
    test(`each answers for its own ${purpose}`, async () => {
      const answers: string[] = [];
      const hosts = new Set<string>();
      for (const { up } of clusters) {
        const { host, port } = (await relayOf(up, purpose)).listen;
        hosts.add(host);
        answers.push(await until(() => ask(host, port).catch(() => undefined)));
      }
      assert.deepEqual(answers, ['first', 'second']);
      assert.equal(hosts.size, 2);
    });
  }

  test('a port that another program uses is reported as an event of the Service and in the status', async () => {
    const [cluster] = clusters;
    assert.ok(cluster);
    const { host } = (await relayOf(cluster.up, 'external IP')).listen;
    const other = createServer().listen(8082, host);
    await once(other, 'listening');
    try {
      const patch = { spec: { ports: [{ port: 8082, name: 'more', targetPort: 8080 }] } };
      await cluster.up.kubectl('patch', 'service', 'web', '-p', JSON.stringify(patch));
      const message = await until(async () => {
        const only = ['--field-selector', 'reason=RelayListenFailed'];
        const fields = ['-o', 'jsonpath={.items[0].message}'];
        return (await cluster.up.kubectl('get', 'events', ...only, ...fields)) || undefined;
      });
      assert.match(message, new RegExp(`external IP on ${host}:8082: .*EADDRINUSE`));
      assert.match(await cluster.up.fairlead('status'), /:8082\/TCP cannot be the external IP of/);
    } finally {
      other.close();
    }
  });
});

function relayOf({ state }: Up, purpose: RelayState['purpose']): Promise<RelayState> {
  return until(() =>
    state().relays.find((one) => one.purpose === purpose && one.problem === undefined),
  );
}
