// The service controller and the whole API server in one process. Time stands still until a test moves it.
import assert from 'node:assert/strict';
import { createLocalCall } from '../../../src/apiserver/local-call.ts';
import type { Transport } from '../../../src/client/transport.ts';
import type { MakeProvider, ProviderSettings } from '../../../src/cloud/provider.ts';
import { startCloud } from '../../../src/cloud/run.ts';
import { createFakeClock, type FakeClock } from '../../../src/host/fake-clock.ts';
import type { Event } from '../../../src/kinds/event/types.ts';
import type { Service } from '../../../src/kinds/service/types.ts';
import { silentLog } from '../../../src/observe/log.ts';
import { createMetrics, type MetricsRegistry } from '../../../src/observe/metrics.ts';
import type { ApiClient, ObjectList } from './api-client.ts';
import { startMemoryServer } from './memory-server.ts';

export type CloudHarness = {
  readonly api: ApiClient;
  readonly clock: FakeClock;
  readonly metrics: MetricsRegistry;
  /** To the server, past whatever stands before the controller. */
  readonly direct: Transport['send'];
  /** The same as a user with the granted permissions only. */
  readonly callAs: (identity: Identity) => Transport['send'];
  readonly start: (options: StartOptions) => RunningCloud;
  /** Moves the time on in small steps until the condition holds. */
  readonly until: (what: string, holds: () => Promise<boolean>, maxMs?: number) => Promise<void>;
  readonly service: (name: string) => Promise<Service | undefined>;
  readonly services: () => Promise<readonly Service[]>;
  readonly create: (name: string, spec?: object, metadata?: object) => Promise<Service>;
  /** Changes fields of a Service's spec. */
  readonly change: (name: string, spec: object) => Promise<Service>;
  readonly addresses: (name: string) => Promise<string>;
  /** `Reason: message` of the events about a Service. */
  readonly events: (name: string) => Promise<readonly string[]>;
  readonly stop: () => Promise<void>;
};

export type Identity = { readonly user: string; readonly groups: readonly string[] };

export type StartOptions = {
  readonly makeProvider: MakeProvider;
  readonly settings?: ProviderSettings;
  readonly loadBalancerClass?: string;
  readonly send?: Transport['send'];
};

/** Who controllers are where nothing is to be said about rights. */
const mighty = { user: 'system:cloud-controller-manager', groups: ['system:masters'] };

export type RunningCloud = { readonly end: () => Promise<void> };

const stepMs = 50;
const at = '/api/v1/namespaces/default';
export const servicePath = (name: string): string => `${at}/services/${name}`;

export async function startCloudHarness(): Promise<CloudHarness> {
  const clock = createFakeClock(Date.parse('2026-01-01T00:00:00Z'));
  const server = await startMemoryServer({ clock });
  const { api } = server;
  const callAs = (identity: Identity): Transport['send'] =>
    createLocalCall(server.server.handle, identity);
  const direct = callAs(mighty);
  const metrics = createMetrics();
  const running = new Set<RunningCloud>();
  const service = async (name: string): Promise<Service | undefined> => {
    const { status, body } = await api.send<Service>({ method: 'GET', path: servicePath(name) });
    return status === 404 ? undefined : body;
  };
  return {
    api,
    clock,
    metrics,
    direct,
    callAs,
    start({ send = direct, makeProvider, settings = {}, loadBalancerClass }) {
      const stopping = new AbortController();
      const ended = startCloud({
        transport: { send, close: () => Promise.resolve() },
        log: silentLog,
        clock,
        metrics,
        makeProvider,
        settings,
        signal: stopping.signal,
        ...(loadBalancerClass === undefined ? {} : { loadBalancerClass }),
      });
      const one: RunningCloud = {
        async end() {
          running.delete(one);
          stopping.abort();
          await ended;
        },
      };
      running.add(one);
      return one;
    },
    async until(what, holds, maxMs = 30_000) {
      for (let passed = 0; passed <= maxMs; passed += stepMs) {
        if (await holds()) return;
        await clock.advance(stepMs);
      }
      assert.fail(`did not happen within ${maxMs} ms: ${what}`);
    },
    service,
    services: async () => (await api.get<ObjectList<Service>>(`${at}/services`)).items,
    create: (name, spec = {}, metadata = {}) =>
      api.post<Service>(`${at}/services`, {
        metadata: { name, ...metadata },
        spec: { type: 'LoadBalancer', ports: [{ port: 80 }], ...spec },
      }),
    change: (name, spec) => api.patch<Service>(servicePath(name), { spec }),
    addresses: async (name) =>
      ((await service(name))?.status.loadBalancer?.ingress ?? [])
        .map(({ ip, hostname }) => ip ?? hostname ?? '')
        .join(),
    async events(name) {
      const { items } = await api.get<ObjectList<Event>>(`${at}/events`);
      return items
        .filter(({ involvedObject }) => involvedObject.name === name)
        .map(({ reason, message }) => `${reason}: ${message}`);
    },
    async stop() {
      await Promise.all([...running].map(({ end }) => end()));
      await server.stop();
    },
  };
}
