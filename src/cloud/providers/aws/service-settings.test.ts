import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exampleService } from '../../example.ts';
import { ImplementedElsewhereError, UnmetRequestError } from '../../provider.ts';
import { annotation } from './annotations.ts';
import { readSettings, type Settings } from './service-settings.ts';

const read = (annotations: Readonly<Record<string, string>> = {}): Settings =>
  readSettings(exampleService({ annotations }));

const certificate = 'arn:aws:acm:eu-1:1:certificate/x';

const cases: readonly [string, Readonly<Record<string, string>>, Partial<Settings>][] = [
  ['internal (LBC-22)', { [annotation.internal]: 'true' }, { isInternal: true }],
  [
    'internal by its oldest value (LBC-22)',
    { [annotation.internal]: '0.0.0.0/0' },
    { isInternal: true },
  ],
  ['not internal (LBC-22)', { [annotation.internal]: 'false' }, { isInternal: false }],
  [
    'the scheme before the older word (LBC-22)',
    { [annotation.internal]: 'true', [annotation.scheme]: 'internet-facing' },
    { isInternal: false },
  ],
  ['the scheme (LBC-22)', { [annotation.scheme]: 'internal' }, { isInternal: true }],
  ['a network balancer (LBC-23)', { [annotation.type]: 'nlb' }, { kind: 'network' }],
  ['a certificate (LBC-24)', { [annotation.certificate]: certificate }, { tls: { certificate } }],
  [
    'a certificate for some ports (LBC-25)',
    { [annotation.certificate]: certificate, [annotation.sslPorts]: '443, https' },
    { tls: { certificate, ports: ['443', 'https'] } },
  ],
  [
    'a certificate for all ports (LBC-25)',
    { [annotation.certificate]: certificate, [annotation.sslPorts]: '*' },
    { tls: { certificate } },
  ],
  [
    'the protocol of the backend (LBC-26)',
    { [annotation.backendProtocol]: 'HTTPS' },
    { backendProtocol: 'https' },
  ],
  [
    'a policy for TLS (LBC-27)',
    { [annotation.certificate]: certificate, [annotation.sslPolicy]: 'P' },
    { tls: { certificate, policy: 'P' } },
  ],
  ['PROXY protocol (LBC-28)', { [annotation.proxyProtocol]: '*' }, { usesProxyProtocol: true }],
  [
    'access logs (LBC-29)',
    {
      [annotation.accessLogEnabled]: 'true',
      [annotation.accessLogInterval]: '5',
      [annotation.accessLogBucket]: 'logs',
      [annotation.accessLogPrefix]: 'here',
    },
    { accessLog: { isEnabled: true, bucket: 'logs', prefix: 'here', intervalMinutes: 5 } },
  ],
  [
    'connection draining (LBC-30)',
    { [annotation.drainingEnabled]: 'true', [annotation.drainingTimeout]: '7' },
    { drainingSeconds: 7 },
  ],
  ['draining as usual (LBC-30)', { [annotation.drainingEnabled]: 't' }, { drainingSeconds: 300 }],
  [
    'idle connections and zones (LBC-31)',
    { [annotation.idleTimeout]: '4000', [annotation.crossZone]: 'true' },
    { idleSeconds: 4000, isCrossZone: true },
  ],
  [
    'tags (LBC-32)',
    { [annotation.resourceTags]: ' team=a , cost=b=c,alone' },
    { resourceTags: { team: 'a', cost: 'b=c', alone: '' } },
  ],
  [
    'health checks at their limits (LBC-33)',
    {
      [annotation.healthyThreshold]: '10',
      [annotation.unhealthyThreshold]: '2',
      [annotation.healthInterval]: '300',
      [annotation.healthTimeout]: '60',
    },
    {
      healthCheck: {
        healthyThreshold: 10,
        unhealthyThreshold: 2,
        intervalSeconds: 300,
        timeoutSeconds: 60,
      },
    },
  ],
  [
    'groups (LBC-34)',
    { [annotation.securityGroups]: 'sg-1,sg-2', [annotation.extraSecurityGroups]: 'sg-3' },
    { securityGroups: ['sg-1', 'sg-2'], extraSecurityGroups: ['sg-3'] },
  ],
  [
    'labels of nodes (LBC-35)',
    { [annotation.targetNodeLabels]: 'a=b,c' },
    { targetNodeLabels: { a: 'b', c: '' } },
  ],
];
const refused: readonly [string, string, RegExp][] = [
  [annotation.type, 'alb', /one of classic, nlb, nlb-ip, external/],
  [annotation.scheme, 'inside', /one of internal, internet-facing/],
  [annotation.certificate, 'my-cert', /ARN/],
  [annotation.backendProtocol, 'udp', /one of http, https, tcp, ssl/],
  [annotation.proxyProtocol, '80', /"\*"/],
  [annotation.accessLogEnabled, 'maybe', /true or false/],
  [annotation.accessLogInterval, '10', /one of 5, 60/],
  [annotation.drainingTimeout, '3601', /from 1 to 3600/],
  [annotation.idleTimeout, '0', /from 1 to 4000/],
  [annotation.idleTimeout, '1e3', /from 1 to 4000/],
  [annotation.crossZone, 'yes', /true or false/],
  [annotation.resourceTags, 'kubernetes.io/service-name=x', /no key of AWS or Kubernetes/],
  [annotation.resourceTags, '=x', /key=value/],
  [annotation.healthyThreshold, '1', /from 2 to 10/],
  [annotation.unhealthyThreshold, '11', /from 2 to 10/],
  [annotation.healthInterval, '4', /from 5 to 300/],
  [annotation.healthTimeout, '61', /from 2 to 60/],
  [annotation.healthTimeout, '10', /below the interval of 10 seconds/],
  [annotation.securityGroups, 'web', /sg-/],
  [annotation.extraSecurityGroups, 'web', /sg-/],
];
describe('readSettings()', () => {
  test('of a Service without annotations', () => {
    assert.deepEqual(read(), {
      kind: 'classic',
      isInternal: false,
      usesProxyProtocol: false,
      accessLog: { isEnabled: false },
      idleSeconds: 60,
      isCrossZone: false,
      resourceTags: {},
      healthCheck: {
        healthyThreshold: 2,
        unhealthyThreshold: 6,
        intervalSeconds: 10,
        timeoutSeconds: 5,
      },
      securityGroups: [],
      extraSecurityGroups: [],
      targetNodeLabels: {},
    });
  });

  for (const [title, annotations, want] of cases) {
    test(`reads ${title}`, () => {
      const settings: Readonly<Record<string, unknown>> = read(annotations);
      const found = Object.fromEntries(Object.keys(want).map((key) => [key, settings[key]]));
      assert.deepEqual(found, want);
    });
  }

  for (const [name, value, allowed] of refused) {
    test(`refuses ${name.split('/')[1]}=${value}, naming it and what is allowed`, () => {
      assert.throws(
        () => read({ [name]: value }),
        (error: unknown) => {
          assert.ok(error instanceof UnmetRequestError);
          assert.ok(error.message.includes(`"${name}"`), error.message);
          assert.match(error.message, allowed);
          return true;
        },
      );
    });
  }

  test('refuses access logs without a bucket (LBC-29)', () => {
    assert.throws(() => read({ [annotation.accessLogEnabled]: 'true' }), /bucket/);
  });

  for (const type of ['external', 'nlb-ip']) {
    test(`leaves type ${type} to the other controller (LBC-23)`, () => {
      assert.throws(() => read({ [annotation.type]: type }), ImplementedElsewhereError);
    });
  }
});
