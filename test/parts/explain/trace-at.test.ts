// A trace on the objects as they were, against a server that keeps history and one that does not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PastWorld, startPastWorld } from '../harness/past-world.ts';

const limit = { timeout: 60_000 };
const services = '/api/v1/namespaces/default/services';
const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
const minuteMs = 60_000;

const sliceWith = (ready: boolean): string => `
metadata: {name: web-x, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080, protocol: TCP}]
endpoints: [{addresses: [10.244.1.5], nodeName: n1, conditions: {ready: ${ready}, serving: ${ready}}}]
`;

/** Until noon plus one minute `web` answers at 10.96.0.77; then it does not, and then it is deleted. */
async function rollOut(world: PastWorld): Promise<void> {
  await world.apply('{metadata: {name: n1}, spec: {podCIDR: 10.244.1.0/24}}', '/api/v1/nodes');
  await world.apply(
    '{metadata: {name: web}, spec: {clusterIP: 10.96.0.77, ports: [{name: http, port: 80, targetPort: 8080}]}}',
    services,
  );
  await world.apply(sliceWith(true), slices);
  world.timeMs += minuteMs;
  await world.server.api.patch(`${slices}/web-x`, {
    endpoints: [{ addresses: ['10.244.1.5'], nodeName: 'n1', conditions: { ready: false } }],
  });
  world.timeMs += minuteMs;
  await world.server.api.delete(`${services}/web`);
  await world.server.api.delete(`${slices}/web-x`);
  world.timeMs += minuteMs;
}

const answered = /^Answered by 10\.244\.1\.5, at port 8080$/m;

test('trace --at explains a connection on the objects as they were', limit, async (t) => {
  const world = await startPastWorld(t);
  await rollOut(world);
  for (const target of ['svc/web:http', 'http://web/', '10.96.0.77:80']) {
    const before = await world.run(`trace ${target} --at 2m30s`);
    assert.match(before.out, answered, `${target}: ${before.out}${before.err}`);
    assert.equal(before.code, 0);
    const after = await world.run(`trace ${target} --at 1m30s`);
    assert.doesNotMatch(after.out, answered);
    assert.match(after.out, /no endpoint|not ready/i);
  }
  const [title, moment] = (await world.run('trace http://web/ --at 2m30s')).out.split('\n');
  assert.match(title ?? '', /^http:\/\/web\/ from /);
  assert.match(
    moment ?? '',
    /^as it was at 2026-01-01 .*; config maps, namespaces, service CIDRs as they are now$/,
  );
  const present = await world.run('trace svc/web:http');
  assert.deepEqual(
    [present.code, present.err],
    [2, 'error: There is no Service "web" in namespace "default"\n'],
  );
  const { out } = await world.run('trace http://web/ --at 2m30s -o json');
  const { at } = JSON.parse(out) as { at: unknown };
  assert.deepEqual(at, {
    time: '2026-01-01T12:00:30.000Z',
    present: ['configMaps', 'namespaces', 'serviceCIDRs'],
  });
});

test('trace --at means the clock of the server', limit, async (t) => {
  const world = await startPastWorld(t);
  await rollOut(world);
  for (const skewMs of [-86_400_000, 0, 86_400_000]) {
    const { out } = await world.run('trace svc/web:http --at 2m30s', {
      nowMs: world.timeMs + skewMs,
    });
    assert.match(out, answered, `skew ${skewMs}`);
  }
});

test('trace --at says in one sentence why it cannot', limit, async (t) => {
  const world = await startPastWorld(t);
  await rollOut(world);
  const cases: readonly (readonly [flags: string, sentence: RegExp])[] = [
    ['--at yesterday', /^error: --at: "yesterday" is no time, want one like [^\n]*\n$/],
    ['--at 2h', /^History is kept since 2026-01-01T12:00:00\.000000Z, resource version \d+\n$/],
    ['--at 2027-01-01T00:00:00Z', /^error: --at: 2027-01-01T00:00:00Z is in the future\n$/],
  ];
  for (const [flags, sentence] of cases) {
    const { code, out, err } = await world.run(`trace http://web/ ${flags}`);
    assert.match(err, sentence);
    assert.deepEqual([code, out], [2, '']);
  }
});

test('trace --at says that a server keeps no history', limit, async (t) => {
  const world = await startPastWorld(t, { keepsHistory: false });
  assert.deepEqual(await world.run('trace http://web/ --at 1m'), {
    code: 2,
    out: '',
    err: 'History is not kept: --history-retention is 0\n',
  });
});
