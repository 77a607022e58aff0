// Cluster DNS over real sockets, against the real API server.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { askTcp, askTcpAtOnce, askUdp, sendUdp } from '../harness/dns-client.ts';
import {
  serviceObject,
  services,
  sliceObject,
  slices,
  startApi,
  startDnsHarness,
  switchedTransport,
} from '../harness/dns-harness.ts';

const web = { name: 'web.default.svc.cluster.local' };
const headless = { clusterIP: 'None', ports: [{ name: 'http', port: 80 }] };
const at = (address: string) => ({ clusterIP: address, ports: [{ name: 'http', port: 80 }] });
const limit = { timeout: 60_000 };

async function start(t: TestContext, options: Parameters<typeof startDnsHarness>[2] = {}) {
  const api = await startApi(t);
  const transport = switchedTransport(api);
  const harness = await startDnsHarness(t, transport, options);
  await harness.dns.synced;
  return { ...harness, apiServer: api, api: api.api, transport };
}

for (const batches of [true, false]) {
  test(
    `names follow the objects, ${batches ? 'in batches' : 'packet by packet'} (DNS-02, DNS-03)`,
    limit,
    async (t) => {
      const { api, ask, until, dns } = await start(t, { batches });
      assert.ok(batches || !dns.inBatches);
      assert.deepEqual((await ask(web)).lines, ['NXDOMAIN aa']);
      await api.post(services, serviceObject('web', at('10.96.7.7')));
      await until(web, ({ lines }) => lines[1] === '30 A 10.96.7.7');
      await api.delete(`${services}/web`);
      await until(web, ({ lines }) => lines[0] === 'NXDOMAIN aa');
      await api.post(services, serviceObject('web', headless));
      await api.post(slices, sliceObject('web', ['10.1.1.1', '10.1.1.2']));
      await until(web, ({ lines }) => lines.length === 3);
      await api.patch(`${slices}/web-x`, { endpoints: [{ addresses: ['10.1.1.2'] }] });
      await until(web, ({ lines }) => lines.join() === 'NOERROR aa,30 A 10.1.1.2');
    },
  );
}

test('before the first sync it answers SERVFAIL and is not ready (DNS-30)', limit, async (t) => {
  const transport = switchedTransport(undefined);
  const { ask, until, status, dns } = await startDnsHarness(t, transport);
  const ready = async (): Promise<number> =>
    (await fetch(`http://127.0.0.1:${status.port}/ready`)).status;
  const kubernetes = { name: 'kubernetes.default.svc.cluster.local' };
  assert.deepEqual((await ask(kubernetes)).lines, ['SERVFAIL aa']);
  assert.equal(await ready(), 503);
  transport.use(await startApi(t));
  await dns.synced;
  await until(kubernetes, ({ lines }) => lines[1] === '30 A 10.96.0.1');
  assert.equal(await ready(), 200);
});

test(
  'without the API server it serves the last known names, reports it, and catches up afterwards',
  limit,
  async (t) => {
    const { api, ask, until, transport, status, apiServer } = await start(t);
    const metrics = async (): Promise<string> =>
      (await fetch(`http://127.0.0.1:${status.port}/metrics`)).text();
    await api.post(services, serviceObject('web', at('10.96.7.7')));
    await until(web, ({ lines }) => lines[1] === '30 A 10.96.7.7');
    assert.match(await metrics(), /^fairlead_dns_api_connected 1$/m);
    transport.use(undefined);
    while (!/^fairlead_dns_api_connected 0$/m.test(await metrics()));
    assert.deepEqual((await ask(web)).lines, ['NOERROR aa', '30 A 10.96.7.7']);
    await api.delete(`${services}/web`);
    await api.post(services, serviceObject('new', at('10.96.8.8')));
    assert.deepEqual((await ask(web)).lines, ['NOERROR aa', '30 A 10.96.7.7']);
    transport.use(apiServer);
    await until({ name: 'new.default.svc.cluster.local' }, ({ lines }) => lines.length === 2);
    await until(web, ({ lines }) => lines[0] === 'NXDOMAIN aa');
    assert.match(await metrics(), /^fairlead_dns_api_connected 1$/m);
  },
);

test('TCP answers pipelined queries on the same port (DNS-29)', limit, async (t) => {
  const { api, ask, until, server } = await start(t);
  const addresses = Array.from({ length: 90 }, (_, index) => `10.1.1.${index + 1}`);
  await api.post(services, serviceObject('web', headless));
  await api.post(slices, sliceObject('web', addresses));
  await until(web, ({ lines }) => lines[0] === 'NOERROR aa');
  const cut = await ask(web);
  assert.ok(cut.bytes <= 512 && (cut.flags & 0x200) !== 0 && cut.lines.length > 1);
  assert.equal((await askTcp(server, web)).lines.length, 91);
  const questions = Array.from({ length: 300 }, (_, id) => ({ ...web, id }));
  const answers = await askTcpAtOnce(server, questions);
  assert.deepEqual(
    answers.map(({ id }) => id).sort((a, b) => a - b),
    questions.map(({ id }) => id),
  );
});

test('IPv4 and IPv6 listen on one port', limit, async (t) => {
  const listen = [
    { host: '127.0.0.1', port: 0 },
    { host: '::1', port: 0 },
  ];
  const { dns } = await start(t, { listen });
  const kubernetes = { name: 'kubernetes.default.svc.cluster.local' };
  for (const address of dns.addresses) {
    assert.deepEqual((await askUdp(address, kubernetes)).lines[1], '30 A 10.96.0.1');
    assert.deepEqual((await askTcp(address, kubernetes)).lines[1], '30 A 10.96.0.1');
  }
});

test('one client cannot use up all connections', limit, async (t) => {
  const { server, status } = await start(t);
  const sockets = Array.from({ length: 150 }, () => connect(server.port, server.host));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  // Connections need not be accepted in the order in which they were opened.
  await new Promise<void>((resolve) => {
    let closed = 0;
    const count = (): void => {
      closed += 1;
      if (closed === 50) resolve();
    };
    for (const socket of sockets) socket.once('close', count).on('error', () => {});
  });
  const text = await (await fetch(`http://127.0.0.1:${status.port}/metrics`)).text();
  assert.match(text, /^fairlead_dns_tcp_connections 100$/m);
  assert.match(text, /^fairlead_dns_tcp_refused_total 50$/m);
});

test(
  'a malformed packet gets a bare header or no reply, and the server keeps answering',
  limit,
  async (t) => {
    const { ask, server } = await start(t);
    const reply = await sendUdp(server, Buffer.from('000100000001000000000000ffff', 'hex'));
    assert.equal(reply.toString('hex'), '000180010000000000000000');
    assert.equal(
      (await ask({ name: 'kubernetes.default.svc.cluster.local' })).lines[0],
      'NOERROR aa',
    );
  },
);

test('metrics have the names of CoreDNS', limit, async (t) => {
  const { ask, status } = await start(t);
  await ask({ name: 'kubernetes.default.svc.cluster.local' });
  await ask({ name: 'nope.default.svc.cluster.local' });
  const text = await (await fetch(`http://127.0.0.1:${status.port}/metrics`)).text();
  assert.match(text, /^coredns_dns_requests_total\{.*proto="udp",family="1",type="A"\} 2$/m);
  assert.match(text, /^coredns_dns_responses_total\{.*rcode="NXDOMAIN",plugin="kubernetes"\} 1$/m);
  assert.match(text, /^coredns_dns_request_duration_seconds_count\{.*\} 2$/m);
  assert.match(text, /^fairlead_dns_services 1$/m);
});

test('the query log names the client pod, while it has a reader', limit, async (t) => {
  const { api, ask, until, status } = await start(t, { pods: 'verified' });
  await api.post('/api/v1/namespaces/default/pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'asker' },
    spec: { containers: [{ name: 'c', image: 'process' }] },
  });
  await api.patch('/api/v1/namespaces/default/pods/asker/status', {
    status: { phase: 'Running', podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }] },
  });
  const pod = { name: '127-0-0-1.default.pod.cluster.local' };
  await until(pod, ({ lines }) => lines.length === 2);
  const reading = new AbortController();
  const { signal } = reading;
  const response = await fetch(`http://127.0.0.1:${status.port}/querylog`, { signal });
  assert.ok(response.body);
  // The answering thread may be notified of the reader after the first query.
  const asking = setInterval(() => void ask(web).catch(() => 'the server has ended'), 20);
  const { value } = await response.body.getReader().read();
  clearInterval(asking);
  reading.abort();
  const [line = ''] = Buffer.from(value ?? [])
    .toString()
    .split('\n');
  const { bytes, ...rest } = JSON.parse(line);
  assert.ok(bytes > 0);
  assert.deepEqual(rest, {
    client: '127.0.0.1',
    pod: 'default/asker',
    name: 'web.default.svc.cluster.local.',
    type: 'A',
    rcode: 'NXDOMAIN',
    by: 'kubernetes',
    protocol: 'udp',
  });
});
