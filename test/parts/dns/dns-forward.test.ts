// Forwarding names outside of the cluster to healthy and faulty upstream servers.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { name, questionPacket } from '../../../src/dns/wire/example.ts';
import { rcodes } from '../../../src/dns/wire/record-types.ts';
import { systemClock } from '../../../src/host/clock.ts';
import { silentLog } from '../../../src/observe/log.ts';
import {
  serviceObject,
  services,
  startApi,
  startDnsHarness,
  switchedTransport,
} from '../harness/dns-harness.ts';
import { type Forgery, startUpstream, type TestUpstream } from '../harness/dns-upstream.ts';
import { freePort } from '../harness/free-port.ts';

const limit = { timeout: 60_000 };
const www = { name: 'www.example.com' };

async function start(
  t: TestContext,
  upstreams: readonly TestUpstream[],
  options: Parameters<typeof startDnsHarness>[2] = {},
) {
  const api = await startApi(t);
  const forward = { servers: upstreams.map(({ address }) => address) };
  const harness = await startDnsHarness(t, switchedTransport(api), { forward, ...options });
  await harness.dns.synced;
  return { ...harness, api: api.api };
}

/** Without the probes for forwarding loops. */
const queriesFor = ({ queries }: TestUpstream, text: string): readonly string[] =>
  queries.filter((line) => line.endsWith(` ${text}.`));

test(
  'an answer is forwarded once, its TTL is capped, and it is cached (DNS-35)',
  limit,
  async (t) => {
    const upstream = await startUpstream(t);
    upstream.say('www.example.com', { addresses: ['192.0.2.1', '192.0.2.2'], ttl: 300 });
    const { ask } = await start(t, [upstream]);
    assert.deepEqual((await ask(www)).lines, ['NOERROR', '30 A 192.0.2.1', '30 A 192.0.2.2']);
    const questions = queriesFor(upstream, 'www.example.com').length;
    for (let time = 0; time < 4; time += 1) {
      const { lines } = await ask(www);
      assert.match(lines[1] ?? '', /^([12]?\d|30) A 192\.0\.2\.1$/);
    }
    assert.equal(queriesFor(upstream, 'www.example.com').length, questions);
  },
);

test('concurrent equal questions are forwarded once', limit, async (t) => {
  const upstream = await startUpstream(t);
  upstream.say('www.example.com', { addresses: ['192.0.2.1'], ttl: 0 });
  const { ask } = await start(t, [upstream]);
  await Promise.all(Array.from({ length: 20 }, () => ask(www)));
  assert.ok(queriesFor(upstream, 'www.example.com').length < 20);
});

test('a negative answer is cached for its TTL', limit, async (t) => {
  const upstream = await startUpstream(t);
  const { ask } = await start(t, [upstream]);
  const no = async (): Promise<number> => {
    assert.deepEqual((await ask({ name: 'no.example.com' })).lines, ['NXDOMAIN']);
    return queriesFor(upstream, 'no.example.com').length;
  };
  const questions = await no();
  for (let time = 0; time < 2; time += 1) assert.equal(await no(), questions);
});

test('a truncated answer is requested again over TCP', limit, async (t) => {
  const upstream = await startUpstream(t);
  upstream.say('www.example.com', { addresses: ['192.0.2.1'], cut: true });
  const { ask } = await start(t, [upstream]);
  assert.deepEqual((await ask(www)).lines, ['NOERROR', '30 A 192.0.2.1']);
  // A client retries after its timeout.
  assert.deepEqual(
    [...new Set(queriesFor(upstream, 'www.example.com'))],
    ['udp www.example.com.', 'tcp www.example.com.'],
  );
});

test('a server without EDNS gets the query again without OPT', limit, async (t) => {
  const upstream = await startUpstream(t);
  upstream.say('www.example.com', { addresses: ['192.0.2.1'], isOld: true });
  const { ask } = await start(t, [upstream]);
  assert.deepEqual((await ask(www)).lines, ['NOERROR', '30 A 192.0.2.1']);
  assert.ok(queriesFor(upstream, 'www.example.com').length >= 2);
});

test('after SERVFAIL, REFUSED or no answer the next server is tried', limit, async (t) => {
  const [bad, good] = [await startUpstream(t), await startUpstream(t)];
  const { ask } = await start(t, [bad, good], { cacheSeconds: 0 });
  good.say('www.example.com', { addresses: ['192.0.2.1'], ttl: 5 });
  for (const rcode of [rcodes.SERVFAIL, rcodes.REFUSED]) {
    bad.say('www.example.com', { rcode });
    for (let time = 0; time < 6; time += 1) assert.equal((await ask(www)).lines[0], 'NOERROR');
  }
  await bad.close();
  for (let time = 0; time < 6; time += 1) assert.equal((await ask(www)).lines[0], 'NOERROR');
});

test('without an answer an expired one is served', limit, async (t) => {
  const upstream = await startUpstream(t);
  upstream.say('www.example.com', { addresses: ['192.0.2.1'], ttl: 1 });
  const { ask, until } = await start(t, [upstream]);
  assert.deepEqual((await ask(www)).lines, ['NOERROR', '1 A 192.0.2.1']);
  await upstream.close();
  // Its TTL of one second has to pass.
  await until(www, ({ lines }) => lines[1] === '0 A 192.0.2.1');
  assert.deepEqual((await ask({ name: 'never-seen.example.com' })).lines, ['SERVFAIL']);
});

test('each query has its own id and port', limit, async (t) => {
  const upstream = await startUpstream(t);
  const { ask } = await start(t, [upstream]);
  for (let time = 0; time < 30; time += 1) await ask({ name: `n${time}.example.com` });
  const count = upstream.sources.length;
  assert.ok(new Set(upstream.sources.map(({ port }) => port)).size > count * 0.8);
  assert.ok(new Set(upstream.sources.map(({ id }) => id)).size > count * 0.9);
});

test('forged answers that come before the true one are ignored', limit, async (t) => {
  const upstream = await startUpstream(t);
  const { ask } = await start(t, [upstream]);
  const address = Buffer.from([6, 6, 6, 6]);
  const nameLength = name('www.example.com').length;
  /** The address is the last of the record, before the OPT. */
  const forged = (change: (answer: Buffer) => void) => (answer: Buffer) => {
    address.copy(answer, answer.indexOf(Buffer.from([192, 0, 2, 1])));
    change(answer);
    return answer;
  };
  const forgeries: Readonly<Record<string, Forgery>> = {
    'another id': { change: forged((it) => it.writeUInt16BE(it.readUInt16BE(0) ^ 1, 0)) },
    'another name': { change: forged((it) => it.write('x', 13)) },
    'another type': { change: forged((it) => it.writeUInt16BE(28, 12 + nameLength)) },
    'another class': { change: forged((it) => it.writeUInt16BE(3, 12 + nameLength + 2)) },
    'another operation': { change: forged((it) => it.writeUInt8(0xa9, 2)) },
    'a query': { change: forged((it) => it.writeUInt8(0x01, 2)) },
    'another source': { change: forged(() => {}), fromOtherPort: true },
  };
  for (const [index, [what, forgery]] of Object.entries(forgeries).entries()) {
    const text = `n${index}.example.com`.padStart('www.example.com'.length, 'w');
    upstream.say(text, { addresses: ['192.0.2.1'], forgeries: [forgery] });
    assert.deepEqual((await ask({ name: text })).lines, ['NOERROR', '30 A 192.0.2.1'], what);
  }
});

test('1,500 slow names of one client leave room for another', limit, async (t) => {
  const upstream = await startUpstream(t);
  upstream.say('www.example.com', { addresses: ['192.0.2.1'] });
  const { ask, server } = await start(t, [upstream]);
  const socket = createSocket('udp4').bind(0, '127.0.0.3');
  t.after(() => socket.close());
  let refused = 0;
  socket.on('message', () => (refused += 1));
  const isSlow = (line: string): boolean => line.includes('slow');
  const arrived = (): number => new Set(upstream.queries.filter(isSlow)).size + refused;
  for (let sent = 0; sent < 1500; ) {
    for (const end = sent + 50; sent < end; sent += 1) {
      const slow = `slow-${sent}.example.com`;
      upstream.say(slow, { silent: true });
      socket.send(questionPacket({ name: slow }), server.port, server.host);
    }
    while (arrived() < sent) await setImmediate();
  }
  assert.ok(refused >= 1300, `${refused}`);
  assert.deepEqual((await ask(www)).lines, ['NOERROR', '30 A 192.0.2.1']);
});

test('malformed answers are dropped', limit, async (t) => {
  const upstream = await startUpstream(t);
  const { ask } = await start(t, [upstream]);
  const toItself: Forgery = {
    change(answer) {
      const owner = 12 + name('www.example.com').length + 4;
      answer.writeUInt16BE(0xc000 | owner, owner);
      return answer;
    },
  };
  const cut: Forgery = { change: (answer) => answer.subarray(0, answer.length - 1) };
  const said = { addresses: ['192.0.2.1'], forgeries: [toItself, cut] };
  upstream.say('www.example.com', said);
  assert.deepEqual((await ask(www)).lines, ['NOERROR', '30 A 192.0.2.1']);
});

test('stub domains have their own servers (DNS-35)', limit, async (t) => {
  const [all, stub] = [await startUpstream(t), await startUpstream(t)];
  all.say('www.example.com', { addresses: ['192.0.2.1'] });
  stub.say('db.corp.example', { addresses: ['192.0.2.2'] });
  const stubDomains = [{ zone: name('corp.example'), servers: [stub.address] }];
  const { ask } = await start(t, [all], { stubDomains });
  assert.deepEqual((await ask(www)).lines[1], '30 A 192.0.2.1');
  assert.deepEqual((await ask({ name: 'db.corp.example' })).lines[1], '30 A 192.0.2.2');
});

test('an ExternalName is answered with the addresses of its target (DNS-17)', limit, async (t) => {
  const upstream = await startUpstream(t);
  upstream.say('www.example.com', { addresses: ['192.0.2.1'] });
  const { api, ask, until } = await start(t, [upstream]);
  await api.post(
    services,
    serviceObject('ext', { type: 'ExternalName', externalName: 'www.example.com' }),
  );
  const ext = { name: 'ext.default.svc.cluster.local' };
  await until(ext, ({ lines }) => lines[0] === 'NOERROR aa');
  assert.deepEqual((await ask(ext)).lines, [
    'NOERROR aa',
    '30 CNAME www.example.com.',
    'www.example.com. 30 A 192.0.2.1',
  ]);
});

test('FQDN endpoints are answered with the addresses of all targets (EPS-01)', limit, async (t) => {
  const upstream = await startUpstream(t);
  for (const one of ['www', 'www2'])
    upstream.say(`${one}.example.com`, { addresses: ['192.0.2.1'] });
  const { api, ask, until } = await start(t, [upstream]);
  await api.post(services, serviceObject('far', { clusterIP: 'None' }));
  const endpoints = ['www.example.com', 'www2.example.com'].map((one) => ({ addresses: [one] }));
  await api.post('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
    metadata: { name: 'far-1', labels: { 'kubernetes.io/service-name': 'far' } },
    addressType: 'FQDN',
    endpoints,
    ports: [],
  });
  const far = { name: 'far.default.svc.cluster.local' };
  await until(far, ({ lines }) => lines[0] === 'NOERROR aa');
  assert.deepEqual([...(await ask(far)).lines].sort(), [
    '30 CNAME www.example.com.',
    '30 CNAME www2.example.com.',
    'NOERROR aa',
    'www.example.com. 30 A 192.0.2.1',
    'www2.example.com. 30 A 192.0.2.1',
  ]);
});

test('only allowed clients resolve names outside of the cluster', limit, async (t) => {
  const upstream = await startUpstream(t);
  const { ask } = await start(t, [upstream], { allow: ['10.0.0.0/8'] });
  assert.deepEqual((await ask(www)).lines, ['REFUSED']);
  assert.equal(
    (await ask({ name: 'kubernetes.default.svc.cluster.local' })).lines[0],
    'NOERROR aa',
  );
  assert.deepEqual(queriesFor(upstream, 'www.example.com'), []);
});

test('without upstream servers other names are refused', limit, async (t) => {
  const { ask } = await start(t, []);
  const { lines, flags } = await ask(www);
  assert.deepEqual(lines, ['REFUSED']);
  assert.equal(flags & 0x80, 0, 'and recursion is not offered');
});

test('a forwarding loop is detected', limit, async (t) => {
  const later = { host: '127.0.0.1', port: await freePort() };
  const first = await start(t, [], { forward: { servers: [later] } });
  let logged = (_message: string): void => {};
  const loggedMessage = new Promise<string>((resolve) => {
    logged = resolve;
  });
  const log = { ...silentLog, error: logged, with: () => log };
  const forward = { servers: [first.server] };
  const second = await start(t, [], { listen: [later], forward, log });
  assert.match(await loggedMessage, /Forwarding loop detected/);
  // The first forwards to the second, which no longer forwards.
  assert.deepEqual((await second.ask(www)).lines, ['SERVFAIL']);
  assert.deepEqual((await first.ask(www)).lines, ['SERVFAIL']);
});

test('a server is not its own upstream', limit, async (t) => {
  const own = { host: '127.0.0.1', port: await freePort() };
  const { ask } = await start(t, [], { listen: [own], forward: { servers: [own] } });
  assert.deepEqual((await ask(www)).lines, ['REFUSED']);
});

test('autopath resolves the search list for the pod', limit, async (t) => {
  const upstream = await startUpstream(t);
  upstream.say('www.example.com', { addresses: ['192.0.2.1'] });
  const { api, ask, until } = await start(t, [upstream], { autopath: true });
  const first = { name: 'www.example.com.default.svc.cluster.local' };
  assert.deepEqual((await ask(first)).lines, ['NXDOMAIN aa']);
  await api.post('/api/v1/namespaces/default/pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'asker' },
    spec: { containers: [{ name: 'c', image: 'process' }] },
  });
  await api.patch('/api/v1/namespaces/default/pods/asker/status', {
    status: { phase: 'Running', podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }] },
  });
  await until(first, ({ lines }) => lines.length === 3);
  assert.match(
    (await ask(first)).lines.join(),
    /CNAME www\.example\.com\.,www\.example\.com\. \d+ A 192/,
  );
});

test('deferred queries are answered before the server stops', limit, async (t) => {
  const upstream = await startUpstream(t);
  upstream.say('www.example.com', { silent: true });
  const { ask, stop } = await start(t, [upstream]);
  const waiting = ask(www);
  while (queriesFor(upstream, 'www.example.com').length === 0) {
    await new Promise((resolve) => systemClock.after(1, () => resolve(undefined)));
  }
  upstream.say('www.example.com', { addresses: ['192.0.2.1'] });
  const stopped = stop();
  assert.deepEqual((await waiting).lines, ['NOERROR', '30 A 192.0.2.1']);
  await stopped;
});
