// Controllers and the whole API server in one process. Time stands still until a test moves it.
import assert from 'node:assert/strict';
import { createLocalCall } from '../../../src/apiserver/local-call.ts';
import type { Transport } from '../../../src/client/transport.ts';
import type { Controller } from '../../../src/controllers/controller.ts';
import { startControllers } from '../../../src/controllers/run.ts';
import type { ControllerSettings } from '../../../src/controllers/settings.ts';
import { createFakeClock, type FakeClock } from '../../../src/host/fake-clock.ts';
import { silentLog } from '../../../src/observe/log.ts';
import { createMetrics, type MetricsRegistry } from '../../../src/observe/metrics.ts';
import type { ApiClient, ObjectList } from './api-client.ts';
import { type MemoryServer, startMemoryServer } from './memory-server.ts';

export type ControllerHarness = {
  readonly server: MemoryServer;
  readonly api: ApiClient;
  readonly clock: FakeClock;
  /** Of the controllers. */
  readonly metrics: MetricsRegistry;
  /** Moves the time on in small steps until the condition holds; far enough for every wait of a controller. */
  readonly until: (what: string, holds: () => Promise<boolean>, maxMs?: number) => Promise<void>;
  readonly isGone: (path: string) => Promise<boolean>;
  readonly list: <T>(path: string) => Promise<readonly T[]>;
  readonly makeNamespace: (name: string) => Promise<void>;
  readonly stop: () => Promise<void>;
};

export type HarnessOptions = {
  /** Absent: all of them. */
  readonly controllers?: readonly Controller[];
  readonly settings?: Partial<ControllerSettings>;
  /** Stands between the controllers and the server. */
  readonly intercept?: (send: Transport['send']) => Transport['send'];
};

const stepMs = 100;

export async function startControllerHarness({
  controllers,
  settings,
  intercept = (send) => send,
}: HarnessOptions = {}): Promise<ControllerHarness> {
  const clock = createFakeClock(Date.parse('2026-01-01T00:00:00Z'));
  const server = await startMemoryServer({ clock });
  const { api } = server;
  const identity = { user: 'system:kube-controller-manager', groups: ['system:masters'] };
  const stopping = new AbortController();
  const metrics = createMetrics();
  const running = startControllers({
    transport: {
      send: intercept(createLocalCall(server.server.handle, identity)),
      close: () => Promise.resolve(),
    },
    log: silentLog,
    authorityCertificate: 'CERTIFICATE',
    signal: stopping.signal,
    clock,
    metrics,
    ...(controllers === undefined ? {} : { controllers }),
    ...(settings === undefined ? {} : { settings }),
  });
  return {
    server,
    api,
    clock,
    metrics,
    async until(what, holds, maxMs = 60_000) {
      for (let passed = 0; passed <= maxMs; passed += stepMs) {
        if (await holds()) return;
        await clock.advance(stepMs);
      }
      assert.fail(`did not happen within ${maxMs} ms: ${what}`);
    },
    isGone: async (path) => (await api.send({ method: 'GET', path })).status === 404,
    list: async <T>(path: string) => (await api.get<ObjectList<T>>(path)).items,
    makeNamespace: async (name) =>
      void (await api.post('/api/v1/namespaces', { metadata: { name } })),
    async stop() {
      stopping.abort();
      await running;
      await server.stop();
    },
  };
}
