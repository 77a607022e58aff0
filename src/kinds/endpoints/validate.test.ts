import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { decode } from '../../schema/decode.ts';
import { defaultEndpoints } from './defaults.ts';
import { type Endpoints, endpointsSchema } from './types.ts';
import { validateEndpoints } from './validate.ts';

function withSubsets(...subsets: readonly unknown[]): Endpoints {
  const { object } = decode(endpointsSchema, { metadata: { name: 'a' }, subsets });
  return defaultEndpoints(object as unknown as Endpoints);
}

const withAddress = (address: unknown) => withSubsets({ addresses: [address] });
const withPorts = (...ports: readonly unknown[]) =>
  withSubsets({ addresses: [{ ip: '10.1.0.1' }], ports });

const ip = 'subsets[0].addresses[0].ip: Invalid value:';
const cases: readonly [string, Endpoints, readonly string[]][] = [
  ['no subsets', withSubsets(), []],
  [
    'a subset without addresses',
    withSubsets({ ports: [{ port: 1 }] }),
    ['subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`'],
  ],
  [
    'a malformed address',
    withAddress({ ip: 'x' }),
    [
      `${ip} "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`,
      `${ip} "x": must be a valid IP address`,
    ],
  ],
  [
    'loopback',
    withAddress({ ip: '::1' }),
    [`${ip} "::1": may not be in the loopback range (127.0.0.0/8, ::1/128)`],
  ],
  [
    'link-local',
    withAddress({ ip: '169.254.1.1' }),
    [`${ip} "169.254.1.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)`],
  ],
  [
    'link-local multicast',
    withAddress({ ip: '224.0.0.1' }),
    [`${ip} "224.0.0.1": may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)`],
  ],
  ['other multicast', withAddress({ ip: '224.0.1.1' }), []],
  [
    'only addresses that are not ready',
    withSubsets({ notReadyAddresses: [{ ip: '10.1.0.1' }] }),
    [],
  ],
  ['the highest port', withPorts({ port: 65535 }), []],
  ['unspecified', withAddress({ ip: '::' }), [`${ip} "::": may not be unspecified (::)`]],
  ['an empty host name', withAddress({ ip: '10.1.0.1', hostname: '' }), []],
  [
    'a host name with dots',
    withAddress({ ip: '10.1.0.1', hostname: 'a.b' }),
    ['subsets[0].addresses[0].hostname: Invalid value: "a.b": must not contain dots'],
  ],
  ['one port without a name', withPorts({ port: 80 }), []],
  [
    'several ports, one without a name',
    withPorts({ port: 80 }, { port: 81, name: 'b' }),
    ['subsets[0].ports[0].name: Required value'],
  ],
  [
    'a port that is none',
    withPorts({ port: 70000 }),
    ['subsets[0].ports[0].port: Invalid value: 70000: must be between 1 and 65535, inclusive'],
  ],
  [
    'an unknown protocol',
    withPorts({ port: 80, protocol: 'tcp' }),
    [
      'subsets[0].ports[0].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"',
    ],
  ],
];

for (const [name, endpoints, want] of cases) {
  test(`validateEndpoints() of ${name} (EPC-18)`, () => {
    assert.deepEqual(validateEndpoints(endpoints).map(errorText), want);
  });
}

test('validateEndpoints() accepts an address that is not canonical only when stored (EPC-18)', () => {
  const stored = withAddress({ ip: '010.1.0.1' });
  assert.deepEqual(validateEndpoints(stored, stored), []);
  assert.deepEqual(validateEndpoints(stored).map(errorText), [
    `${ip} "010.1.0.1": must not have leading 0s`,
  ]);
});

test('validateEndpoints() accepts unchanged subsets (EPC-19)', () => {
  const old = withSubsets({ addresses: [{ ip: '127.0.0.1' }], ports: [{ port: 0 }] });
  assert.deepEqual(validateEndpoints({ ...old, metadata: { name: 'a', labels: {} } }, old), []);
  const more = withSubsets(...(old.subsets ?? []), { addresses: [{ ip: '10.1.0.1' }] });
  assert.deepEqual(validateEndpoints(more, old).map(errorText), [
    `${ip} "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)`,
    'subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
  ]);
});

test('defaultEndpoints() sets protocol TCP and keeps the field order', () => {
  const { subsets } = withPorts({ port: 80, appProtocol: 'http' });
  assert.equal(
    JSON.stringify(subsets?.[0]?.ports),
    '[{"port":80,"protocol":"TCP","appProtocol":"http"}]',
  );
});
