// The session of the commands that explain a cluster: every failure is one sentence and exit code 2.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  readSessionSnapshot,
  withExplainSession,
} from '../../../src/cli/explain/explain-session.ts';
import { FailedError } from '../../../src/flags/command.ts';
import { notFound } from '../../../src/meta/api-error.ts';
import { silentWorld } from '../../lanes/silent-world.ts';
import { freePort } from '../harness/free-port.ts';
import { kubeconfigText } from '../harness/kubectl.ts';
import { startMemoryServer } from '../harness/memory-server.ts';

const limit = { timeout: 60_000 };

function kubeconfigAt(t: TestContext, port: number): string {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-explain-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'kubeconfig');
  writeFileSync(path, kubeconfigText(port));
  return path;
}

test('readSessionSnapshot() reads what the session may read', limit, async (t) => {
  const server = await startMemoryServer();
  t.after(server.stop);
  const kubeconfig = kubeconfigAt(t, server.server.address.port);
  const snapshot = await withExplainSession({ kubeconfig }, silentWorld, (session) =>
    readSessionSnapshot(session, silentWorld, { kinds: ['services'] }),
  );
  assert.deepEqual(
    snapshot.objects.services.map(({ metadata }) => metadata.name),
    ['kubernetes'],
  );
});

test(
  'readSessionSnapshot() prints no warning of kinds that are read on purpose',
  limit,
  async (t) => {
    const server = await startMemoryServer();
    t.after(server.stop);
    const kubeconfig = kubeconfigAt(t, server.server.address.port);
    const errors: string[] = [];
    const world = { ...silentWorld, writeError: (text: string) => void errors.push(text) };
    await withExplainSession({ kubeconfig }, world, (session) =>
      readSessionSnapshot(session, world, { kinds: ['endpoints'] }),
    );
    assert.deepEqual(errors, []);
  },
);

test('withExplainSession() ends with 2 when the server is not there', limit, async (t) => {
  const port = await freePort();
  await assert.rejects(
    withExplainSession({ kubeconfig: kubeconfigAt(t, port) }, silentWorld, (session) =>
      readSessionSnapshot(session, silentWorld),
    ),
    (error: unknown) =>
      error instanceof FailedError &&
      error.exitCode === 2 &&
      /^The connection to the server 127\.0\.0\.1:\d+ was refused/.test(error.message),
  );
});

test('withExplainSession() ends with 2 when the server refuses', limit, async (t) => {
  const kubeconfig = kubeconfigAt(t, 1);
  await assert.rejects(
    withExplainSession({ kubeconfig }, silentWorld, () =>
      Promise.reject(notFound({ group: '', resource: 'services' }, 'web')),
    ),
    (error: unknown) =>
      error instanceof FailedError &&
      error.exitCode === 2 &&
      error.message === 'Error from server (NotFound): services "web" not found',
  );
});

test('withExplainSession() ends without a word when it is interrupted', limit, async (t) => {
  const kubeconfig = kubeconfigAt(t, 1);
  const interrupted = AbortSignal.abort();
  await assert.rejects(
    withExplainSession({ kubeconfig }, { ...silentWorld, interrupted }, (session) =>
      readSessionSnapshot(session, { ...silentWorld, interrupted }),
    ),
    (error: unknown) =>
      error instanceof FailedError && error.exitCode === 130 && error.message === '',
  );
});
