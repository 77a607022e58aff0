// The manifests in docs/deploy/kubernetes/rbac on a server with RBAC: each part does its work as the account that its manifest makes, with
// no other rights, and the audit log shows that nothing is refused.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { createAccountTransports } from '../../../src/client/account-transports.ts';
import type { ApiCaller } from '../../../src/client/api-call.ts';
import { createEventRecorder } from '../../../src/client/event-recorder.ts';
import { createHttpTransport } from '../../../src/client/http-transport.ts';
import { defaultTiming, runElection } from '../../../src/client/leader-election.ts';
import { createSharedInformers } from '../../../src/client/shared-informers.ts';
import type { Transport } from '../../../src/client/transport.ts';
import { leaseNamespace } from '../../../src/cloud/announce/lease-observer.ts';
import { startOwnLease } from '../../../src/cloud/announce/run-lease.ts';
import { makeLocalProvider } from '../../../src/cloud/providers/local/local-provider.ts';
import { cloudLease } from '../../../src/cloud/rights.ts';
import { startCloud } from '../../../src/cloud/run.ts';
import { allControllers } from '../../../src/controllers/all.ts';
import { accountNamespace, controllersLease } from '../../../src/controllers/rights.ts';
import { startControllers } from '../../../src/controllers/run.ts';
import { endpointSliceDefinition } from '../../../src/kinds/endpoint-slice/definition.ts';
import { leaseDefinition } from '../../../src/kinds/lease/definition.ts';
import { nodeDefinition } from '../../../src/kinds/node/definition.ts';
import type { Question } from '../../../src/kinds/part/question.ts';
import type { Pod } from '../../../src/kinds/pod/types.ts';
import type { Right } from '../../../src/kinds/rbac/rights.ts';
import { serviceDefinition } from '../../../src/kinds/service/definition.ts';
import type { Service } from '../../../src/kinds/service/types.ts';
import { silentLog } from '../../../src/observe/log.ts';
import { createMetrics } from '../../../src/observe/metrics.ts';
import { makeConfig, type ProxySettings } from '../../../src/proxy/config.ts';
import { startProxy } from '../../../src/proxy/run.ts';
import { startDnsHarness } from '../harness/dns-harness.ts';
import { testCredentials } from '../harness/memory-server.ts';
import { reportNode } from '../harness/node-agent.ts';
import { createRecordingMode } from '../harness/recording-mode.ts';
import {
  accountUser,
  describeLine,
  type RightsHarness,
  refusals,
  startRightsHarness,
  unused,
  withoutStreams,
} from '../harness/rights-harness.ts';
import { roleManifests } from '../harness/role-manifests.ts';
import { doWholeWork, leaveTraces, settingsOfWork } from '../harness/whole-work.ts';
import { makeConsumer } from '../harness/work-on-storage.ts';

const limit = { timeout: 280_000 };

async function start(t: TestContext, file: string): Promise<RightsHarness> {
  const harness = await startRightsHarness();
  t.after(harness.stop);
  await harness.apply(readFileSync(`docs/deploy/kubernetes/rbac/${file}`, 'utf8'));
  await leaveTraces(harness.server);
  return harness;
}

const rightsOf = (file: string): readonly Right[] =>
  roleManifests.find((one) => one.file === file)?.grants.flatMap(({ rights }) => rights) ?? [];

const callerOf = (send: Transport['send']): ApiCaller => ({
  transport: { send, close: () => Promise.resolve() },
  userAgent: 'test',
});

/** Runs until the test is over, as the one that holds the lease. */
function lead(
  t: TestContext,
  { clock }: RightsHarness,
  lease: { readonly namespace: string; readonly name: string },
  caller: ApiCaller,
  work: (signal: AbortSignal) => Promise<void>,
): void {
  const stopping = new AbortController();
  const election = { ...lease, caller, identity: 'one', clock, log: silentLog };
  const ended = runElection({ ...election, timing: defaultTiming, lead: work }, stopping.signal);
  t.after(async () => {
    stopping.abort();
    await ended;
  });
}

test('controllers.yaml: all controllers as one user', limit, async (t) => {
  const harness = await start(t, 'controllers.yaml');
  const account = 'fairlead-controllers';
  const caller = callerOf(harness.sendAs(account));
  lead(t, harness, controllersLease, caller, (signal) =>
    startControllers({
      ...{ transport: caller.transport, log: silentLog, clock: harness.clock, signal },
      authorityCertificate: 'CERTIFICATE',
      settings: settingsOfWork,
    }),
  );
  await doWholeWork({ api: harness.server.api, clock: harness.clock });
  assert.deepEqual(refusals(harness.lines, account), []);
});

test('controllers-own-accounts.yaml: each controller as its own account', limit, async (t) => {
  const harness = await start(t, 'controllers-own-accounts.yaml');
  const { server, clock, lines } = harness;
  const opened = await transportOf(t, harness, 'fairlead-controllers');
  const transport = { ...opened, send: withoutStreams(opened.send) };
  const caller = { transport, userAgent: 'test' };
  const namespace = accountNamespace;
  const accounts = createAccountTransports({ caller, namespace, clock, log: silentLog });
  lead(t, harness, controllersLease, caller, (signal) =>
    startControllers({
      ...{ transport, transportOf: accounts, log: silentLog, clock, signal },
      authorityCertificate: 'CERTIFICATE',
      settings: settingsOfWork,
    }),
  );
  await doWholeWork({ api: server.api, clock });
  const own = [...new Set(allControllers.map(({ account }) => account))];
  for (const account of ['fairlead-controllers', ...own])
    assert.deepEqual(refusals(lines, account), [], account);
  // Each controller shows up in the log by its own name.
  let renewals = 0;
  for (const account of own) {
    const rights = allControllers
      .filter((one) => one.account === account)
      .flatMap((one) => one.rights)
      .filter(({ resources }) => !resources.includes('events'));
    assert.deepEqual(unused(lines, account, rights), [], account);
    const tokens = lines.filter(
      ({ objectRef }) => objectRef?.subresource === 'token' && objectRef.name === account,
    );
    assert.ok(tokens.length >= 1, account);
    renewals += tokens.length - 1;
  }
  // Two hours passed, and tokens last one: those that had to do after that asked again.
  assert.ok(renewals > 0);
  const byManager = lines
    .filter(({ user }) => user.username === accountUser('fairlead-controllers'))
    .filter(({ verb }) => verb !== 'list' && verb !== 'watch')
    .map(describeLine);
  assert.deepEqual([...new Set(byManager)].sort(), [
    'create leases.coordination.k8s.io',
    'create serviceaccounts',
    'create serviceaccounts/token',
    'get leases.coordination.k8s.io',
    'update leases.coordination.k8s.io',
  ]);
});

/** Over HTTPS, with a token of the account that outlasts the test. */
async function transportOf(
  t: TestContext,
  { server }: RightsHarness,
  account: string,
): Promise<Transport> {
  const path = `/api/v1/namespaces/kube-system/serviceaccounts/${account}/token`;
  const { status } = await server.api.post<{ status: { token: string } }>(path, {
    spec: { expirationSeconds: 7 * 24 * 3600 },
  });
  const transport = createHttpTransport({
    server: `https://127.0.0.1:${server.server.address.port}`,
    namespace: 'default',
    certificateAuthority: testCredentials().authority.certificate,
    token: status.token,
    skipTlsVerification: false,
  });
  t.after(() => transport.close());
  return transport;
}

test('cloud.yaml: a load balancer comes and goes', limit, async (t) => {
  const harness = await start(t, 'cloud.yaml');
  const { api } = harness.server;
  const account = 'fairlead-cloud';
  const caller = callerOf(withoutStreams(harness.sendAs(account)));
  lead(t, harness, cloudLease, caller, (signal) =>
    startCloud({
      ...{ transport: caller.transport, log: silentLog, clock: harness.clock, signal },
      makeProvider: makeLocalProvider,
      settings: { loadBalancerPool: '192.0.2.1' },
    }),
  );
  const path = '/api/v1/namespaces/default/services';
  await api.post(path, {
    metadata: { name: 'web' },
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
  });
  await until(harness, async () => {
    const { status } = await api.get<Service>(`${path}/web`);
    return status.loadBalancer?.ingress !== undefined;
  });
  await api.delete(`${path}/web`);
  await until(
    harness,
    async () => (await api.send({ method: 'GET', path: `${path}/web` })).status === 404,
  );
  await useAll(harness, 'cloud.yaml', account);
  assert.deepEqual(refusals(harness.lines, account), []);
});

/** Only events that repeat are patched. */
const withoutPatchOfEvents = (right: Right): Right =>
  right.resources.includes('events') ? { ...right, verbs: ['create'] } : right;

/** Waits until every right that the manifest gives was used. */
async function useAll(harness: RightsHarness, file: string, account: string): Promise<void> {
  if (rightsOf(file).some(({ group }) => group === 'parts.fairlead.dev')) {
    await questionParts(harness);
  }
  const left = (): readonly string[] =>
    unused(harness.lines, account, rightsOf(file).map(withoutPatchOfEvents));
  await until(harness, async () => left().length === 0).catch(() => assert.deepEqual(left(), []));
}

/** A part answers only when there is a question, and has to be connected for it. */
async function questionParts({ server }: RightsHarness): Promise<void> {
  const body = { spec: { question: 'Position', spec: { services: 0, slices: 0 } } };
  for (;;) {
    const path = '/apis/parts.fairlead.dev/v1alpha1/questions';
    const { status } = await server.api.post<Question>(path, body);
    if ((status?.answers ?? []).length > 0) return;
  }
}

async function until({ clock }: RightsHarness, holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1000; tries += 1) {
    if (await holds()) return;
    await clock.advance(100);
  }
  assert.fail('did not happen');
}

test('scheduler.yaml: pods get a node, or an event says why not', limit, async (t) => {
  const harness = await start(t, 'scheduler.yaml');
  const { server, clock } = harness;
  const account = 'fairlead-scheduler';
  const caller = callerOf(withoutStreams(harness.sendAs(account)));
  const lease = { namespace: 'kube-system', name: 'fairlead-scheduler' };
  lead(t, harness, lease, caller, (signal) =>
    startControllers({
      ...{ transport: caller.transport, log: silentLog, clock, signal, authorityCertificate: '' },
      controllers: allControllers.filter(({ name }) => name === 'scheduler'),
    }),
  );
  const pods = '/api/v1/namespaces/default/pods';
  const containers = [{ name: 'c', image: 'i' }];
  const misfit = { containers, nodeSelector: { disk: 'ssd' } };
  await server.api.post('/api/v1/nodes', { metadata: { name: 'n1' } });
  await reportNode({ api: server.api, clock }, 'n1');
  // The life cycle of nodes is another controller's.
  await server.api.patch('/api/v1/nodes/n1', { spec: { taints: null } });
  await server.api.post(pods, { metadata: { name: 'fits' }, spec: { containers } });
  await server.api.post(pods, { metadata: { name: 'misfit' }, spec: misfit });
  await makeConsumer(server.api, '/api/v1/namespaces/default', 'n1');
  // So is that of volumes.
  await server.api.patch('/api/v1/persistentvolumes/there/status', {
    status: { phase: 'Available' },
  });
  await useAll(harness, 'scheduler.yaml', account);
  assert.equal((await server.api.get<Pod>(`${pods}/fits`)).spec.nodeName, 'n1');
  assert.deepEqual(refusals(harness.lines, account), []);
});

const quietProxy: ProxySettings = {
  ...{ nodeName: 'n1', healthz: 'none', metrics: 'none', minSyncPeriodMs: 0, syncPeriodMs: 20 },
  conntrack: { maxPerCore: 0, tcpEstablishedTimeoutMs: 0, tcpCloseWaitTimeoutMs: 0 },
};
const services = '/api/v1/namespaces/default/services';
const webService = { metadata: { name: 'web' }, spec: { ports: [{ name: 'http', port: 80 }] } };

test('dns.yaml: names of Services are answered', limit, async (t) => {
  const harness = await start(t, 'dns.yaml');
  const account = 'fairlead-dns';
  const { api } = harness.server;
  const service = await api.post<Service>(services, webService);
  const { transport } = callerOf(withoutStreams(harness.sendAs(account)));
  const dns = await startDnsHarness(t, transport, { pods: 'verified' });
  await dns.until({ name: 'web.default.svc.cluster.local.', type: 'A' }, (answer) =>
    JSON.stringify(answer).includes(service.spec.clusterIP ?? ''),
  );
  await questionParts(harness);
  assert.deepEqual(unused(harness.lines, account, rightsOf('dns.yaml')), []);
  assert.deepEqual(refusals(harness.lines, account), []);
});

test('proxy.yaml: Services and endpoints get to the rules', limit, async (t) => {
  const harness = await start(t, 'proxy.yaml');
  const account = 'fairlead-proxy';
  const { api } = harness.server;
  await api.post('/api/v1/nodes', { metadata: { name: 'n1' } });
  await api.post(services, webService);
  const notebook = createRecordingMode();
  const stopping = new AbortController();
  const ended = startProxy(
    {
      caller: callerOf(withoutStreams(harness.sendAs(account))),
      config: makeConfig(quietProxy),
      modes: notebook.modes,
      log: silentLog,
      metrics: createMetrics(),
    },
    stopping.signal,
  );
  t.after(async () => {
    stopping.abort();
    await ended;
  });
  while (!(await notebook.next()).ports.has('default/web:http/TCP'));
  await useAll(harness, 'proxy.yaml', account);
  assert.deepEqual(refusals(harness.lines, account), []);
});

test('announcer.yaml: it reads what it needs and keeps its lease', limit, async (t) => {
  const harness = await start(t, 'announcer.yaml');
  const account = 'fairlead-announcer';
  const caller = callerOf(withoutStreams(harness.sendAs(account)));
  const { clock } = harness;
  const stopping = new AbortController();
  const { signal } = stopping;
  const informers = createSharedInformers({ caller, clock, log: silentLog }, signal);
  const read = [
    informers.of(serviceDefinition),
    informers.of(nodeDefinition),
    informers.of(endpointSliceDefinition),
    informers.of(leaseDefinition, { namespace: leaseNamespace }),
  ];
  await Promise.all(read.map(({ synced }) => synced()));
  const options = { caller, clock, nodeName: 'n1', log: silentLog, leaseMs: 3000 };
  const { ended, renewedAt } = startOwnLease(
    { ...options, node: () => undefined, isReady: () => Promise.resolve(true), tried: () => {} },
    signal,
  );
  await until(harness, async () => renewedAt() !== undefined);
  const first = renewedAt() ?? 0;
  await until(harness, async () => (renewedAt() ?? 0) > first);
  const recorder = createEventRecorder({ caller, component: 'announcer', clock, log: silentLog });
  const service = await harness.server.api.post<Service>(services, webService);
  recorder.record(service, { type: 'Normal', reason: 'AnnouncedAddress', message: '' });
  await recorder.flushed();
  stopping.abort();
  await Promise.all([ended, informers.ended()]);
  const shown = rightsOf('announcer.yaml').map(withoutPatchOfEvents);
  assert.deepEqual(unused(harness.lines, account, shown), []);
  assert.deepEqual(refusals(harness.lines, account), []);
});
