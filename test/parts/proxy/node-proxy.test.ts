// The proxy's runner against the real API server, with a mode that records states instead of writing rules.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createLocalCall } from '../../../src/apiserver/local-call.ts';
import { silentLog } from '../../../src/observe/log.ts';
import { createMetrics } from '../../../src/observe/metrics.ts';
import { makeConfig, type ProxySettings } from '../../../src/proxy/config.ts';
import type { ServicePort } from '../../../src/proxy/model/state.ts';
import { startProxy } from '../../../src/proxy/run.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';
import { createRecordingMode, type Written } from '../harness/recording-mode.ts';

const quiet: ProxySettings = {
  nodeName: 'N1',
  healthz: 'none',
  metrics: 'none',
  minSyncPeriodMs: 0,
  syncPeriodMs: 20,
  conntrack: { maxPerCore: 0, tcpEstablishedTimeoutMs: 0, tcpCloseWaitTimeoutMs: 0 },
};

let server: MemoryServer;
before(async () => {
  server = await startMemoryServer();
  const labels = { 'topology.kubernetes.io/zone': 'zone-a' };
  await server.api.post('/api/v1/nodes', { metadata: { name: 'n1', labels } });
});
after(() => server.stop());

let names = 0;
let name = '';
const services = '/api/v1/namespaces/default/services';
const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
const key = (): string => `default/${name}:http/TCP`;

beforeEach(() => {
  names += 1;
  name = `web-${names}`;
});

const makeService = () =>
  server.api.post(services, {
    metadata: { name },
    spec: { ports: [{ name: 'http', port: 80 }] },
  });

const slice = (...ips: readonly string[]) => ({
  metadata: { name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } },
  addressType: 'IPv4',
  ports: [{ name: 'http', port: 8080 }],
  endpoints: ips.map((ip) => ({ addresses: [ip], nodeName: 'n1' })),
});

type Running = { readonly notebook: ReturnType<typeof createRecordingMode> };

async function withProxy(body: (running: Running) => Promise<void>): Promise<void> {
  const notebook = createRecordingMode();
  const stop = new AbortController();
  const send = createLocalCall(server.server.handle, { user: 'proxy', groups: ['system:masters'] });
  const running = startProxy(
    {
      caller: { transport: { send, close: () => Promise.resolve() }, userAgent: 'test' },
      config: makeConfig(quiet),
      modes: notebook.modes,
      log: silentLog,
      metrics: createMetrics(),
    },
    stop.signal,
  );
  try {
    await body({ notebook });
  } finally {
    stop.abort();
    await running;
  }
}

/** The next write that has the port as wanted. */
async function until(
  { notebook }: Running,
  isWanted: (port: ServicePort | undefined) => boolean,
): Promise<Written> {
  for (;;) {
    const written = await notebook.next();
    if (isWanted(written.ports.get(key()))) return written;
  }
}

const keysOf = ({ change }: Written): unknown =>
  change.kind === 'full' ? 'all' : [...change.keys];

describe('the runner of the node proxy', () => {
  it('writes everything first, and then what changes (KPX-09)', async () => {
    await makeService();
    await server.api.post(slices, slice('10.244.1.11'));
    await withProxy(async (running) => {
      const first = await running.notebook.next();
      assert.equal(first.change.kind, 'full');
      assert.deepEqual(first.ports.get(key())?.clusterEndpoints, [
        { ip: '10.244.1.11', port: 8080, isLocal: true },
      ]);
      await server.api.put(`${slices}/${name}-1`, slice('10.244.1.12'));
      const second = await until(
        running,
        (port) => port?.clusterEndpoints[0]?.ip === '10.244.1.12',
      );
      assert.deepEqual(keysOf(second), [key()]);
      await server.api.delete(`${services}/${name}`);
      assert.deepEqual(keysOf(await until(running, (port) => port === undefined)), [key()]);
    });
  });
  it('leaves a Service to another proxy when it is labelled so, and takes it back (KPX-02)', async () => {
    await makeService();
    await withProxy(async (running) => {
      await until(running, (port) => port !== undefined);
      const label = (value: string | null) =>
        server.api.patch(`${services}/${name}`, {
          metadata: { labels: { 'service.kubernetes.io/service-proxy-name': value } },
        });
      await label('other');
      await until(running, (port) => port === undefined);
      await label(null);
      await until(running, (port) => port !== undefined);
    });
  });
  it('writes everything after a failure (KPX-41)', async () => {
    await withProxy(async (running) => {
      await running.notebook.next();
      running.notebook.hands.failures = 1;
      await makeService();
      assert.equal(keysOf(await until(running, (port) => port !== undefined)), 'all');
    });
  });
  it('writes everything when another program has removed its rules (KPX-40)', async () => {
    await withProxy(async ({ notebook }) => {
      await notebook.next();
      notebook.hands.isIntact = false;
      assert.equal(keysOf(await notebook.next()), 'all');
    });
  });
  it('removes the rules of other modes once its own are written, and no others (KPX-52)', async () => {
    await withProxy(async ({ notebook }) => {
      notebook.hands.failures = 1;
      await notebook.next();
      notebook.hands.isIntact = false;
      await notebook.next();
      assert.deepEqual(notebook.cleaned, ['iptables IPv4']);
    });
  });
  it('follows the zone of its node (KPX-12)', async () => {
    await makeService();
    const hinted = (ip: string, zone: string) => ({
      addresses: [ip],
      hints: { forZones: [{ name: zone }] },
    });
    const endpoints = [hinted('10.244.1.11', 'zone-a'), hinted('10.244.1.12', 'zone-b')];
    await server.api.post(slices, { ...slice(), endpoints });
    await withProxy(async (running) => {
      await until(running, (port) => port?.clusterEndpoints[0]?.ip === '10.244.1.11');
      const labels = { 'topology.kubernetes.io/zone': 'zone-b' };
      await server.api.patch('/api/v1/nodes/n1', { metadata: { labels } });
      await until(running, (port) => port?.clusterEndpoints[0]?.ip === '10.244.1.12');
    });
  });
});
