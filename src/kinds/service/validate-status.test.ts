import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { exampleService } from './example.ts';
import type { LoadBalancerIngress, ServiceSpec } from './types.ts';
import { validateServiceStatus } from './validate-status.ts';

const field = 'status.loadBalancer.ingress';

function errors(ingress: LoadBalancerIngress, type: ServiceSpec['type'] = 'LoadBalancer') {
  const before = exampleService({ spec: { type: 'LoadBalancer' } });
  const status = { loadBalancer: { ingress: [ingress] } };
  const spec = type === undefined ? {} : { type };
  return validateServiceStatus(before, exampleService({ spec, status })).map(errorText);
}

const cases: readonly [string, LoadBalancerIngress, readonly string[]][] = [
  ['accepts an address with its mode', { ip: '192.0.2.1', ipMode: 'VIP' }, []],
  ['accepts a name', { hostname: 'lb.example.com' }, []],
  [
    'wants the mode of an address (STA-03)',
    { ip: '192.0.2.1' },
    [`${field}[0].ipMode: Required value: must be specified when \`ip\` is set`],
  ],
  [
    'wants no mode without an address (STA-03)',
    { hostname: 'a.b', ipMode: 'VIP' },
    [`${field}[0].ipMode: Forbidden: may not be specified when \`ip\` is not set`],
  ],
  [
    'knows two modes',
    { ip: '192.0.2.1', ipMode: 'NAT' },
    [`${field}[0].ipMode: Unsupported value: "NAT": supported values: "Proxy", "VIP"`],
  ],
  [
    'wants an address as ip (STA-02)',
    { ip: 'lb', ipMode: 'VIP' },
    [
      `${field}[0].ip: Invalid value: "lb": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`,
    ],
  ],
  [
    'wants no address as name (STA-02)',
    { hostname: '192.0.2.1' },
    [`${field}[0].hostname: Invalid value: "192.0.2.1": must be a DNS name, not an IP address`],
  ],
];

for (const [name, ingress, wanted] of cases) {
  test(`validateServiceStatus() ${name}`, () => {
    assert.deepEqual(errors(ingress), wanted);
  });
}

test('validateServiceStatus() forbids a balancer to other types (STA-01)', () => {
  assert.deepEqual(errors({ hostname: 'lb.example.com' }, 'NodePort'), [
    `${field}: Forbidden: may only be used when \`spec.type\` is 'LoadBalancer'`,
  ]);
});
