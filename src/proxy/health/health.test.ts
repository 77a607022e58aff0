import assert from 'node:assert/strict';
import { get } from 'node:http';
import { describe, it } from 'node:test';
import { createFakeClock } from '../../host/fake-clock.ts';
import { serveStatus } from '../../observe/serve-status.ts';
import type { NodeObject } from '../node-view/node-object.ts';
import { createProxyHealth, isEligible } from './health.ts';
import { createHealthChecks } from './serve-health-checks.ts';
import { serveHealthz } from './serve-healthz.ts';
import { serveMetrics } from './serve-metrics.ts';

const local = { host: '127.0.0.1', port: 0 };

function node(
  parts: Partial<NodeObject['metadata']> = {},
  spec: NodeObject['spec'] = {},
): NodeObject {
  return { metadata: { name: 'n1', ...parts }, spec, status: {} };
}

describe('createProxyHealth()', () => {
  const healthOf = () => createProxyHealth(['IPv4', 'IPv6'], 60_000);
  it('is healthy before the first change', () => {
    assert.equal(healthOf().report(1_000_000).isHealthy, true);
  });
  it('is unhealthy when a change has waited for too long in one family (KPX-33)', () => {
    const health = healthOf();
    health.queued('IPv4', 1000);
    health.queued('IPv4', 50_000);
    assert.equal(health.report(61_000).isHealthy, true);
    assert.equal(health.report(61_001).isHealthy, false);
    assert.equal(health.report(61_001).families.get('IPv6')?.isHealthy, true);
    health.updated('IPv4', 61_100, 61_200);
    assert.deepEqual(
      [health.report(200_000).isHealthy, health.report(200_000).lastUpdated],
      [true, 61_200],
    );
  });
  it('does not count a change that came while the sync ran as written', () => {
    const health = healthOf();
    health.queued('IPv4', 2000);
    health.updated('IPv4', 1000, 3000);
    assert.equal(health.report(63_000).isHealthy, false);
  });
});

describe('isEligible() (KPX-34)', () => {
  const taints = [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }];
  const cases = [
    ['a node', node(), true],
    ['no node', undefined, false],
    ['a node that goes', node({ deletionTimestamp: '2026-01-01T00:00:00Z' }), false],
    ['a node that is to go', node({}, { taints }), false],
  ] as const;
  for (const [title, object, expected] of cases) {
    it(`${title}: ${expected}`, () => assert.equal(isEligible(object), expected));
  }
});

describe('serveHealthz() (KPX-32, KPX-34)', () => {
  it('answers for the node on /healthz and for itself on /livez', async () => {
    const health = createProxyHealth(['IPv4'], 60_000);
    const answers: string[] = [];
    const server = await serveHealthz({
      ...local,
      clock: createFakeClock(1_767_225_600_000),
      report: health.report,
      isEligible: () => false,
      responded: (path, code) => answers.push(`${path} ${code}`),
    });
    try {
      const [healthz, livez, other] = await Promise.all(
        ['healthz', 'livez', 'other'].map((path) =>
          fetch(`http://127.0.0.1:${server.port}/${path}`),
        ),
      );
      assert.deepEqual([healthz?.status, livez?.status, other?.status], [503, 200, 404]);
      assert.deepEqual(await livez?.json(), {
        lastUpdated: '1970-01-01T00:00:00.000Z',
        currentTime: '2026-01-01T00:00:00.000Z',
        nodeEligible: false,
        healthy: true,
        status: { IPv4: { lastUpdated: '1970-01-01T00:00:00.000Z', healthy: true } },
      });
      assert.deepEqual(answers.sort(), ['healthz 503', 'livez 200']);
    } finally {
      await server.close();
    }
  });
});

const failures: string[] = [];
let isProxyHealthy = true;
const checks = () =>
  createHealthChecks({
    isProxyHealthy: () => isProxyHealthy,
    failed: (key, port) => failures.push(`${key} ${port}`),
  });

describe('createHealthChecks() (KPX-36, KPX-37, KPX-39)', () => {
  it('responds with the number of local endpoints, follows changes, and stops', async () => {
    const free = await serveStatus({ ...local, routes: {} });
    const { port } = free;
    await free.close();
    const servers = checks();
    const ask = async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/anything`);
      const weight = answer.headers.get('x-load-balancing-endpoint-weight');
      return [answer.status, weight, await answer.json()] as const;
    };
    const service = { namespace: 'default', name: 'web' };
    const update = (localEndpoints: number) =>
      servers.update({
        family: 'IPv4',
        checks: new Map([['default/web', { port, localEndpoints }]]),
        addresses: 'all',
      });
    await update(2);
    assert.deepEqual(await ask(), [
      200,
      '2',
      { service, localEndpoints: 2, serviceProxyHealthy: true },
    ]);
    await update(0);
    assert.deepEqual(await ask(), [
      503,
      '0',
      { service, localEndpoints: 0, serviceProxyHealthy: true },
    ]);
    await update(1);
    isProxyHealthy = false;
    assert.deepEqual(await ask(), [
      503,
      '1',
      { service, localEndpoints: 1, serviceProxyHealthy: false },
    ]);
    await servers.update({ family: 'IPv6', checks: new Map(), addresses: 'all' });
    assert.equal((await ask())[0], 503);
    await servers.update({ family: 'IPv4', checks: new Map(), addresses: 'all' });
    await assert.rejects(ask());
    await servers.close();
  });
  it('listens on the addresses of node ports, and follows their changes (KPX-30)', async () => {
    const free = await serveStatus({ ...local, routes: {} });
    const { port } = free;
    await free.close();
    const servers = checks();
    // Each with a connection of its own: one that is kept would outlive its server.
    const answersOn = (host: string): Promise<boolean> =>
      new Promise((resolve) => {
        get({ host, port, agent: false }, (response) => {
          response.resume();
          resolve(true);
        }).on('error', () => resolve(false));
      });
    const seen = async (addresses: readonly string[] | 'all') => {
      const wanted = new Map([['default/web', { port, localEndpoints: 1 }]]);
      await servers.update({ family: 'IPv4', checks: wanted, addresses });
      return Promise.all(['127.0.0.1', '127.0.0.2', '127.0.0.3'].map(answersOn));
    };
    try {
      assert.deepEqual(await seen(['127.0.0.2']), [false, true, false]);
      assert.deepEqual(await seen(['127.0.0.1', '127.0.0.3']), [true, false, true]);
      assert.deepEqual(await seen('all'), [true, true, true]);
      assert.deepEqual(await seen(['127.0.0.3']), [false, false, true]);
      assert.deepEqual(await seen([]), [true, true, true], 'no address is known');
      assert.deepEqual(await seen(['203.0.113.1']), [true, true, true], 'no interface has it');
    } finally {
      await servers.close();
    }
    assert.equal(await answersOn('127.0.0.1'), false);
  });
  it('reports when it cannot listen', async () => {
    const taken = await serveStatus({ host: '0.0.0.0', port: 0, routes: {} });
    const servers = checks();
    await servers.update({
      family: 'IPv4',
      checks: new Map([['default/web', { port: taken.port, localEndpoints: 1 }]]),
      addresses: 'all',
    });
    assert.deepEqual(failures, [`default/web ${taken.port}`]);
    await Promise.all([taken.close(), servers.close()]);
  });
});

describe('serveMetrics() (KPX-35)', () => {
  it('has metrics, mode, configuration and health', async () => {
    const config = { masqueradeAll: true };
    const options = { ...local, metricsText: () => 'a 1\n', mode: 'nftables', config };
    const server = await serveMetrics(options);
    const read = async (path: string): Promise<string> =>
      (await fetch(`http://127.0.0.1:${server.port}${path}`)).text();
    try {
      assert.equal(await read('/metrics'), 'a 1\n');
      assert.equal(await read('/proxyMode'), 'nftables');
      assert.deepEqual(JSON.parse(await read('/configz')), { kubeproxy: config });
      assert.equal(await read('/healthz'), 'ok');
      assert.equal(await read('/nothing'), '404 page not found\n');
    } finally {
      await server.close();
    }
  });
});
