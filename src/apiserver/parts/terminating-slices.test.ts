import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EndpointSlice } from '../../kinds/endpoint-slice/types.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { Service } from '../../kinds/service/types.ts';
import { terminatingSlices } from './terminating-slices.ts';

const pod = {
  metadata: { namespace: 'a', name: 'web-1', uid: 'u1', labels: { app: 'web', tier: 'x' } },
  status: { podIPs: [{ ip: '10.1.0.1' }, { ip: 'fd44::1' }] },
} as unknown as Pod;

const service = (name: string, spec: object = {}): Service =>
  ({
    metadata: { namespace: 'a', name },
    spec: { clusterIP: '10.96.0.1', ipFamilies: ['IPv4'], selector: { app: 'web' }, ...spec },
  }) as unknown as Service;

const slice = (of: string, revision: number, terminating: boolean, more: object = {}) =>
  ({
    metadata: {
      namespace: 'a',
      resourceVersion: String(revision),
      labels: { 'kubernetes.io/service-name': of },
    },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.1.0.1'], targetRef: { uid: 'u1' }, conditions: { terminating } }],
    ...more,
  }) as unknown as EndpointSlice;

const cases: readonly (readonly [
  string,
  readonly Service[],
  readonly EndpointSlice[],
  readonly [boolean, boolean, number],
])[] = [
  ['no Service selects it', [service('db', { selector: { app: 'db' } })], [], [false, true, 0]],
  ['a Service has no selector', [service('web', { selector: {} })], [], [false, true, 0]],
  [
    'it is only behind a headless Service',
    [service('web', { clusterIP: 'None' })],
    [],
    [false, true, 0],
  ],
  ['no slice has it yet', [service('web')], [], [true, false, 0]],
  ['its slice shows it as it was', [service('web')], [slice('web', 7, false)], [true, false, 7]],
  ['its slice shows it as terminating', [service('web')], [slice('web', 8, true)], [true, true, 8]],
  [
    'one of two Services shows it',
    [service('web'), service('all', { selector: { tier: 'x' } })],
    [slice('web', 8, true), slice('all', 5, false)],
    [true, false, 8],
  ],
  [
    'one of two families shows it',
    [service('web', { ipFamilies: ['IPv4', 'IPv6'] })],
    [slice('web', 8, true), slice('web', 6, false, { addressType: 'IPv6' })],
    [true, false, 8],
  ],
  [
    'a slice shows another pod of this address',
    [service('web')],
    [
      slice('web', 8, true, {
        endpoints: [
          { addresses: ['10.1.0.1'], targetRef: { uid: 'u2' }, conditions: { terminating: true } },
        ],
      }),
    ],
    [true, false, 8],
  ],
  [
    'slices of other Services are newer',
    [service('web')],
    [slice('web', 8, true), slice('other', 99, true)],
    [true, true, 8],
  ],
];

describe('terminatingSlices()', () => {
  for (const [name, services, slices, [isSelected, isShown, revision]] of cases) {
    it(`says what is shown of a pod when ${name}`, () => {
      assert.deepEqual(terminatingSlices(pod, services, slices), { isSelected, isShown, revision });
    });
  }
});
