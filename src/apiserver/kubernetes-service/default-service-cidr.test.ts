import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServiceCIDR } from '../../kinds/service-cidr/types.ts';
import type { Condition } from '../../meta/conditions.ts';
import { type DefaultCidrStep, nextDefaultCidrStep } from './default-service-cidr.ts';

function stored(cidrs: readonly string[], ready?: Partial<Condition>, deleted = false) {
  const condition = { type: 'Ready', status: 'True', reason: '', message: '', ...ready };
  const object = {
    kind: 'ServiceCIDR',
    apiVersion: 'networking.k8s.io/v1',
    metadata: { name: 'kubernetes', ...(deleted ? { deletionTimestamp: 'now' } : {}) },
    spec: { cidrs },
    status: ready === undefined ? {} : { conditions: [condition] },
  };
  return object as ServiceCIDR;
}

const v4 = '10.96.0.0/16';
const v6 = 'fd00:96::/108';
const mismatch = (existing: string, flags: string): DefaultCidrStep => ({
  action: 'warn',
  reason: 'KubernetesDefaultServiceCIDRInconsistent',
  message: `The default ServiceCIDR [${existing}] does not match the controller flag configurations [${flags}]`,
});

const cases: readonly [string, ServiceCIDR | undefined, readonly string[], DefaultCidrStep][] = [
  ['makes what is missing (IPA-19)', undefined, [v4], { action: 'create' }],
  ['sets Ready without a condition (IPA-19)', stored([v4]), [v4], { action: 'ready' }],
  [
    'sets Ready when it is Unknown (IPA-19)',
    stored([v4], { status: 'Unknown' }),
    [v4],
    { action: 'ready' },
  ],
  ['leaves what is ready (IPA-19)', stored([v4, v6], {}), [v4, v6], { action: 'none' }],
  [
    'reports a condition of another controller, and keeps it (IPA-19)',
    stored([v4], { status: 'False', reason: 'Terminating', message: 'held back' }),
    [v4],
    {
      action: 'warn',
      reason: 'Terminating',
      message: 'Configuration matches, but held back',
    },
  ],
  [
    'leaves what is being deleted to the controller (IPA-24)',
    stored([v4], undefined, true),
    [v4],
    { action: 'none' },
  ],
  ['adds a second family (IPA-20)', stored([v4], {}), [v4, v6], { action: 'grow' }],
  [
    'tells of another range (IPA-20)',
    stored(['10.0.0.0/16'], {}),
    [v4],
    mismatch('10.0.0.0/16', v4),
  ],
  [
    'takes no family away (IPA-20)',
    stored([v4, v6], {}),
    [v4],
    mismatch('10.96.0.0/16 fd00:96::/108', v4),
  ],
  [
    'adds no second family to another range (IPA-20)',
    stored(['10.0.0.0/16'], {}),
    [v4, v6],
    mismatch('10.0.0.0/16', '10.96.0.0/16 fd00:96::/108'),
  ],
  [
    'does not change the order of families (IPA-20)',
    stored([v4, v6], {}),
    [v6, v4],
    mismatch('10.96.0.0/16 fd00:96::/108', 'fd00:96::/108 10.96.0.0/16'),
  ],
];

for (const [title, object, cidrs, wanted] of cases) {
  test(`nextDefaultCidrStep() ${title}`, () => {
    assert.deepEqual(nextDefaultCidrStep(object, cidrs), wanted);
  });
}
