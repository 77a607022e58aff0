import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createHealth } from './health.ts';

const broken = { name: 'etcd', check: () => Promise.reject(new Error('gone')) };
const fine = { name: 'log', check: () => {} };
const readiness = { name: 'informer-sync', check: broken.check, kinds: ['readyz'] as const };

const cases = [
  { url: '/healthz', checks: [], gives: { status: 200, text: 'ok' } },
  { url: '/livez/ping', checks: [], gives: { status: 200, text: 'ok' } },
  { url: '/livez/nope', checks: [], gives: undefined },
  { url: '/health', checks: [], gives: undefined },
  {
    url: '/readyz?verbose',
    checks: [fine],
    gives: { status: 200, text: '[+]ping ok\n[+]log ok\nreadyz check passed\n' },
  },
  {
    url: '/healthz',
    checks: [fine, broken],
    gives: {
      status: 500,
      text: '[+]ping ok\n[+]log ok\n[-]etcd failed: reason withheld\nhealthz check failed\n',
    },
  },
  { url: '/healthz?exclude=etcd', checks: [broken], gives: { status: 200, text: 'ok' } },
  {
    url: '/livez?exclude=etcd&exclude=x&exclude=a&verbose=1',
    checks: [broken],
    gives: {
      status: 200,
      text: '[+]ping ok\n[+]etcd excluded: ok\nwarn: some health checks cannot be excluded: no matches for "a","x"\nlivez check passed\n',
    },
  },
  {
    url: '/healthz/etcd',
    checks: [broken],
    gives: { status: 500, text: 'internal server error: gone\n' },
  },
  { url: '/livez', checks: [readiness], gives: { status: 200, text: 'ok' } },
  {
    url: '/readyz',
    checks: [readiness],
    gives: {
      status: 500,
      text: '[+]ping ok\n[-]informer-sync failed: reason withheld\nreadyz check failed\n',
    },
  },
];

describe('createHealth()', () => {
  for (const { url, checks, gives } of cases) {
    const names = checks.map(({ name }) => name).join(', ');
    it(`answers ${url} with checks [${names}]`, async () => {
      const [path = '', query] = url.split('?');
      assert.deepEqual(await createHealth(checks).handle(path, new URLSearchParams(query)), gives);
    });
  }
});
