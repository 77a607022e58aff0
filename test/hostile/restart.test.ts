// A server that is killed at any moment starts again on its data, and answers.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startBinary } from '../bench/binary.ts';
import { createHttpsClient, type HttpsClient } from './https-client.ts';

/** A server that takes longer does not answer any more; without an end, the test would leave it running. */
const hungAfterMs = 60_000;

const deployments = '/apis/apps/v1/namespaces/x/deployments';
const container = (value: string) => ({
  ...{ name: 'a', image: 'b', env: [{ name: 'A', value }] },
});

const created = (finalizers: readonly string[]) => ({
  metadata: { name: 'd', finalizers },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: 'd' } },
    template: { metadata: { labels: { app: 'd' } }, spec: { containers: [container('0')] } },
  },
});

/** The commands with which the control plane was once hung for good; the finalizer keeps the state until the restart. */
async function changeDuringDeletion(client: HttpsClient): Promise<void> {
  const send = (method: string, path: string, object?: unknown, type = 'application/json') =>
    client.send({
      ...{ method, path, headers: { 'content-type': type } },
      ...(object === undefined ? {} : { body: JSON.stringify(object) }),
    });
  await send('POST', '/api/v1/namespaces', { metadata: { name: 'x' } });
  const { status } = await send('POST', deployments, created(['example.com/keep']));
  assert.equal(status, 201);
  await send('DELETE', '/api/v1/namespaces/x');
  const template = { spec: { containers: [container('1')] } };
  const patched = await send(
    ...(['PATCH', `${deployments}/d`, { spec: { template } }] as const),
    'application/merge-patch+json',
  );
  assert.equal(patched.status, 200);
}

test('a deployment in a terminating namespace blocks neither the server nor its restart', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-restart-'));
  try {
    for (const round of ['first', 'again']) {
      const binary = await startBinary({ command: 'up', directory, logged: () => undefined });
      const client = createHttpsClient(binary.target);
      try {
        if (round === 'first') await changeDuringDeletion(client);
        // More than one: each answer shows that the event loop came round since the one before.
        for (let n = 0; n < 50; n += 1) {
          const signal = AbortSignal.timeout(hungAfterMs);
          const path = `${deployments}/d`;
          const { status, text } = await client.send({ method: 'GET', path, signal });
          assert.equal(status, 200, text);
        }
      } finally {
        client.close();
        await binary.kill();
      }
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
