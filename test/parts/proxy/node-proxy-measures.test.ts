// What the proxy's runner asks the server for, tells it, and measures.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createLocalCall } from '../../../src/apiserver/local-call.ts';
import { silentLog } from '../../../src/observe/log.ts';
import { createMetrics } from '../../../src/observe/metrics.ts';
import { makeConfig } from '../../../src/proxy/config.ts';
import { startProxy } from '../../../src/proxy/run.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';
import { createRecordingMode } from '../harness/recording-mode.ts';

let server: MemoryServer;
before(async () => {
  server = await startMemoryServer();
  await server.api.post('/api/v1/nodes', { metadata: { name: 'n1' } });
});
after(() => server.stop());

const services = '/api/v1/namespaces/default/services';
const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';

type Running = {
  readonly notebook: ReturnType<typeof createRecordingMode>;
  /** The value of a metric, with its labels as they are written. */
  readonly value: (name: string) => number | undefined;
  readonly requestedPaths: readonly string[];
};

async function withProxy(
  mode: string,
  body: (running: Running) => Promise<void>,
  allowsForeignAddresses = true,
): Promise<void> {
  const notebook = createRecordingMode([mode]);
  const stop = new AbortController();
  const metrics = createMetrics();
  const requestedPaths: string[] = [];
  const call = createLocalCall(server.server.handle, { user: 'proxy', groups: ['system:masters'] });
  const send: typeof call = (request) => {
    requestedPaths.push(decodeURIComponent(request.path));
    return call(request);
  };
  const running = startProxy(
    {
      caller: { transport: { send, close: () => Promise.resolve() }, userAgent: 'test' },
      config: makeConfig({
        ...{ nodeName: 'n1', healthz: 'none', metrics: 'none', mode },
        ...{ minSyncPeriodMs: 0, syncPeriodMs: 20, allowsForeignAddresses },
        conntrack: { maxPerCore: 0, tcpEstablishedTimeoutMs: 0, tcpCloseWaitTimeoutMs: 0 },
      }),
      modes: notebook.modes,
      log: silentLog,
      metrics,
    },
    stop.signal,
  );
  const value = (name: string): number | undefined => {
    const line = metrics
      .text()
      .split('\n')
      .find((text) => text.startsWith(`kubeproxy_${name} `));
    return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1));
  };
  try {
    await notebook.next();
    await body({ notebook, value, requestedPaths });
  } finally {
    stop.abort();
    await running;
  }
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function eventsOf(reason: string): Promise<readonly { readonly type: string }[]> {
  type List = { readonly items: readonly { readonly type: string }[] };
  const path = `/api/v1/events?fieldSelector=${encodeURIComponent(`reason=${reason},involvedObject.name=n1`)}`;
  return (await server.api.get<List>(path)).items;
}

const v4 = 'ip_family="IPv4"';

/** What never comes is a failure. */
const timeout = 60_000;

describe('the runner of the node proxy, seen from outside', { timeout }, () => {
  it('watches what it needs and no more (KPX-01)', async () => {
    await withProxy('nftables', async ({ requestedPaths }) => {
      const wanted: Readonly<Record<string, RegExp>> = {
        '/api/v1/services': /labelSelector=!service\.kubernetes\.io\/service-proxy-name(&|$)/,
        '/apis/discovery.k8s.io/v1/endpointslices':
          /labelSelector=!service\.kubernetes\.io\/headless(&|$)/,
        '/api/v1/nodes': /fieldSelector=metadata\.name=n1(&|$)/,
        '/apis/networking.k8s.io/v1/servicecidrs': /./,
      };
      // Events are writes, and questions of the server may be there by now or not.
      const reads = requestedPaths.filter((path) => !/\/events|parts\.fairlead\.dev/.test(path));
      assert.deepEqual(
        [...new Set(reads.map((path) => path.split('?')[0]))].sort(),
        Object.keys(wanted).sort(),
      );
      for (const path of reads) assert.match(path, wanted[path.split('?')[0] ?? ''] ?? /^$/);
      const ofServices = reads.filter((path) => path.startsWith('/api/v1/services'));
      for (const path of ofServices) assert.match(path, /fieldSelector=spec\.clusterIP!=None/);
    });
  });

  it('says which address it does not capture, and why', async () => {
    const { api } = server;
    const addresses = [{ type: 'InternalIP', address: '10.20.0.9' }];
    await api.post('/api/v1/nodes', { metadata: { name: 'n9' } });
    await api.patch('/api/v1/nodes/n9/status', { status: { addresses } });
    const externalIPs = ['10.20.0.9', '198.51.100.7'];
    const spec = { externalIPs, ports: [{ port: 10250 }] };
    const thief = async ({ notebook, value }: Running): Promise<void> => {
      for (;;) {
        const { ports } = await notebook.next();
        const port = ports.get('default/thief:/TCP');
        if (port?.externalIPs.join() === '198.51.100.7') break;
      }
      assert.equal(value(`refused_addresses{${v4},claimed_by="externalIP"}`), 1);
    };
    await withProxy(
      'nftables',
      async (running) => {
        await api.post('/api/v1/namespaces/default/services', {
          metadata: { name: 'thief' },
          spec,
        });
        await thief(running);
        type Events = { readonly items: readonly { readonly message: string }[] };
        const path = '/api/v1/namespaces/default/events?fieldSelector=reason%3DForeignAddress';
        const messages = async (): Promise<readonly string[]> =>
          (await api.get<Events>(path)).items.map(({ message }) => message);
        await until(async () => (await messages()).length > 0);
        assert.deepEqual(await messages(), [
          'Not capturing externalIP 10.20.0.9: it is an address of node n9',
        ]);
      },
      false,
    );
    await api.delete('/api/v1/namespaces/default/services/thief');
  });

  it('says that it starts, and warns of ipvs (KPX-50)', async () => {
    await withProxy('ipvs', async () => {
      await until(async () => (await eventsOf('Starting')).some(({ type }) => type === 'Normal'));
      await until(async () =>
        (await eventsOf('IPVSDeprecation')).some(({ type }) => type === 'Warning'),
      );
    });
  });
});

describe('the runner of the node proxy measures', { timeout }, () => {
  it('its writes, by family and by whether they were full (KPX-53)', async () => {
    await withProxy('nftables', async ({ notebook, value }) => {
      const name = 'measured';
      const spec = { ports: [{ name: 'http', port: 80 }] };
      await server.api.post(services, { metadata: { name }, spec });
      await notebook.next();
      await until(() => (value(`sync_partial_proxy_rules_duration_seconds_count{${v4}}`) ?? 0) > 0);
      assert.equal(value(`sync_full_proxy_rules_duration_seconds_count{${v4}}`), 1);
      assert.ok((value(`sync_proxy_rules_duration_seconds_count{${v4}}`) ?? 0) >= 2);
      const seconds = Date.now() / 1000;
      for (const name of ['last_timestamp', 'last_queued_timestamp']) {
        const at = value(`sync_proxy_rules_${name}_seconds{${v4}}`) ?? 0;
        assert.ok(Math.abs(at - seconds) < 3600, `${name} is ${at}`);
      }
      assert.ok((value(`sync_proxy_rules_service_changes_total{${v4}}`) ?? 0) >= 1);
      assert.equal(value(`sync_proxy_rules_service_changes_pending{${v4}}`), 0);
    });
  });

  it('changes, and ports whose endpoints are elsewhere (KPX-54)', async () => {
    await withProxy('nftables', async ({ value }) => {
      const name = 'elsewhere';
      await server.api.post(services, {
        metadata: { name },
        spec: { ports: [{ name: 'http', port: 80 }], internalTrafficPolicy: 'Local' },
      });
      await server.api.post(slices, sliceOf(name));
      const without = `sync_proxy_rules_no_local_endpoints_total{${v4},traffic_policy=`;
      await until(() => value(`${without}"internal"}`) === 1);
      assert.equal(value(`${without}"external"}`), 0);
      assert.ok((value(`sync_proxy_rules_endpoint_changes_total{${v4}}`) ?? 0) >= 1);
      assert.equal(value(`sync_proxy_rules_endpoint_changes_pending{${v4}}`), 0);
    });
  });

  it('rules by table, what the last write wrote of them, and failures (KPX-55, IPT-13)', async () => {
    await withProxy('iptables', async ({ notebook, value }) => {
      const table = (name: string): string => `{${v4},table="${name}"}`;
      await until(() => value(`sync_proxy_rules_iptables_total${table('filter')}`) === 5);
      assert.equal(value(`sync_proxy_rules_iptables_last${table('filter')}`), 5);
      const spec = { ports: [{ name: 'http', port: 80 }] };
      await server.api.post(services, { metadata: { name: 'ruled' }, spec });
      await until(() => value(`sync_proxy_rules_iptables_last${table('nat')}`) === 1);
      assert.equal(value(`sync_proxy_rules_iptables_last${table('filter')}`), 0);
      assert.equal(value(`sync_proxy_rules_iptables_total${table('filter')}`), 5);

      notebook.hands.failures = 2;
      await server.api.delete(`${services}/ruled`);
      const failures = (kind: string): number =>
        value(`sync_proxy_rules_iptables_${kind}_failures_total{${v4}}`) ?? 0;
      await until(() => failures('partial_restore') === 1 && failures('restore') === 1);

      const dropped = 'iptables_ct_state_invalid_dropped_packets_total';
      notebook.hands.packets = { invalidDropped: 8, loopbackAccepted: 0 };
      await until(() => value(dropped) === 8);
      // Less than before: the rule was written anew.
      notebook.hands.packets = { invalidDropped: 2, loopbackAccepted: 3 };
      await until(() => value(dropped) === 10);
      assert.equal(value('iptables_localhost_nodeports_accepted_packets_total'), 3);
    });
  });

  it('from the change that led to it, unless that was before it looked (KPX-56)', async () => {
    await withProxy('nftables', async ({ notebook, value }) => {
      const spec = { ports: [{ name: 'http', port: 80 }] };
      for (const name of ['before', 'now']) {
        await server.api.post(services, { metadata: { name }, spec });
        await notebook.next();
      }
      await server.api.post(slices, sliceOf('before', '2020-01-01T00:00:00Z'));
      await notebook.next();
      const measured = `network_programming_duration_seconds_count{${v4}}`;
      assert.equal(value(measured), undefined);
      // Whole seconds, so the next one: not before it began to look.
      const soon = new Date(Math.ceil(Date.now() / 1000) * 1000).toISOString();
      await server.api.post(slices, sliceOf('now', soon));
      await until(() => value(measured) === 1);
    });
  });
});

function sliceOf(name: string, triggeredAt?: string) {
  return {
    metadata: {
      name: `${name}-1`,
      labels: { 'kubernetes.io/service-name': name },
      ...(triggeredAt === undefined
        ? {}
        : { annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': triggeredAt } }),
    },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080 }],
    endpoints: [{ addresses: ['10.244.2.11'], nodeName: 'n2' }],
  };
}
