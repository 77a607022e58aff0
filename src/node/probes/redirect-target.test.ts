import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HttpTarget } from './probe-target.ts';
import { redirectTarget } from './redirect-target.ts';

const from: HttpTarget = {
  scheme: 'http',
  host: '10.0.0.7',
  port: 8080,
  path: '/health/live?x=1',
  headers: { host: 'web.example', 'user-agent': 'kube-probe/1.36' },
};

const cases: readonly (readonly [
  string,
  number,
  string | undefined,
  Partial<HttpTarget> | undefined,
])[] = [
  ['an absolute path', 302, '/ready', { path: '/ready', port: 8080, headers: from.headers }],
  ['a relative path', 301, 'ready?y=2', { path: '/health/ready?y=2' }],
  [
    'another port of the same host, without the host name of the probe',
    307,
    'http://10.0.0.7:9090/',
    { port: 9090, path: '/', headers: { 'user-agent': 'kube-probe/1.36' } },
  ],
  ['the same host over TLS', 308, 'https://10.0.0.7/', { scheme: 'https', port: 443 }],
  ['another host: not followed', 302, 'http://10.0.0.8:8080/', undefined],
  ['another host without a scheme: not followed', 302, '//example.org/', undefined],
  ['no location: not followed', 302, undefined, undefined],
  ['a status that is no redirect', 304, '/ready', undefined],
];

for (const [name, status, location, expected] of cases) {
  test(`redirectTarget() of ${name}`, () => {
    const target = redirectTarget(from, { status, location });
    if (expected === undefined) assert.equal(target, undefined);
    else assert.deepEqual({ ...target, ...expected }, target);
  });
}

test('redirectTarget() stays with an IPv6 host', () => {
  const six = { ...from, host: 'fd00::7' };
  const target = redirectTarget(six, { status: 302, location: 'http://[fd00:0::7]:81/' });
  assert.equal(target?.host, 'fd00::7');
  assert.equal(target?.port, 81);
});

test('redirectTarget() refuses what is no address of a web server', () => {
  for (const location of ['http://[', 'ftp://10.0.0.7/', `/${'a'.repeat(10_000)}`]) {
    assert.throws(() => redirectTarget(from, { status: 302, location }), /Location|scheme/);
  }
});
