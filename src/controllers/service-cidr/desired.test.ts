import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IPAddress } from '../../kinds/ip-address/types.ts';
import type { ServiceCIDR } from '../../kinds/service-cidr/types.ts';
import type { ObjectMeta } from '../../meta/object.ts';
import { formatTime } from '../../schema/time.ts';
import { nextStep, type ServiceCidrStep, serviceCidrFinalizer } from './desired.ts';

const now = 1_000_000_000;

const range = (
  name: string,
  cidrs: readonly string[],
  metadata: ObjectMeta = {},
  ready?: 'True' | 'False',
  message = 'Kubernetes Service CIDR is ready',
): ServiceCIDR => ({
  kind: 'ServiceCIDR',
  apiVersion: 'networking.k8s.io/v1',
  metadata: { name, ...metadata },
  spec: { cidrs },
  status:
    ready === undefined
      ? {}
      : {
          conditions: [
            {
              type: 'Ready',
              status: ready,
              lastTransitionTime: formatTime(0),
              reason: ready === 'True' ? '' : 'Terminating',
              message: ready === 'True' ? message : '',
            },
          ],
        },
});
const address = (name: string, managed = true): IPAddress => ({
  kind: 'IPAddress',
  apiVersion: 'networking.k8s.io/v1',
  metadata: {
    name,
    ...(managed ? { labels: { 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io' } } : {}),
  },
  spec: {},
});

const held = { finalizers: [serviceCidrFinalizer] };
const deletedAgo = (ms: number): ObjectMeta => ({
  ...held,
  deletionTimestamp: formatTime(now - ms),
});
const condition = (status: 'True' | 'False', reason: string, message: string): ServiceCidrStep => ({
  action: 'condition',
  condition: { type: 'Ready', status, lastTransitionTime: formatTime(now), reason, message },
});
const terminating = condition(
  'False',
  'Terminating',
  'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR',
);

const cases: readonly {
  name: string;
  range: ServiceCIDR;
  others?: readonly ServiceCIDR[];
  addresses?: readonly IPAddress[];
  wanted: ServiceCidrStep;
}[] = [
  {
    name: 'adds its finalizer to a new range (IPA-21)',
    range: range('a', ['10.0.0.0/24'], { finalizers: ['x/y'] }),
    wanted: { action: 'finalizers', finalizers: ['x/y', serviceCidrFinalizer] },
  },
  {
    name: 'sets the condition Ready (IPA-21)',
    range: range('a', ['10.0.0.0/24'], held),
    wanted: condition('True', '', 'Kubernetes Service CIDR is ready'),
  },
  {
    name: 'leaves a ready range alone',
    range: range('a', ['10.0.0.0/24'], held, 'True'),
    wanted: { action: 'none' },
  },
  {
    name: 'replaces the Ready message of the default range (IPA-19)',
    range: range(
      'kubernetes',
      ['10.0.0.0/24'],
      held,
      'True',
      'Kubernetes default Service CIDR is ready',
    ),
    wanted: condition('True', '', 'Kubernetes Service CIDR is ready'),
  },
  {
    name: 'waits after the delete of an unused range (IPA-25)',
    range: range('a', ['10.0.0.0/24'], deletedAgo(4000), 'True'),
    addresses: [address('10.0.1.1')],
    wanted: { action: 'wait', ms: 6000 },
  },
  {
    name: 'removes the finalizer of an unused range after ten seconds (IPA-25)',
    range: range('a', ['10.0.0.0/24'], deletedAgo(10_000), 'True'),
    wanted: { action: 'finalizers', finalizers: [] },
  },
  {
    name: 'keeps a range that an IPAddress needs (IPA-24)',
    range: range('a', ['10.0.0.0/24'], deletedAgo(60_000), 'True'),
    addresses: [address('10.0.0.7')],
    wanted: terminating,
  },
  {
    name: 'writes the condition once (IPA-24)',
    range: range('a', ['10.0.0.0/24'], deletedAgo(60_000), 'False'),
    addresses: [address('10.0.0.7')],
    wanted: { action: 'none' },
  },
  {
    name: 'does not wait for addresses of other allocators',
    range: range('a', ['10.0.0.0/24'], deletedAgo(60_000), 'True'),
    addresses: [address('10.0.0.7', false)],
    wanted: { action: 'finalizers', finalizers: [] },
  },
  {
    name: 'removes the finalizer of a range inside another (IPA-22, IPA-24)',
    range: range('a', ['10.0.0.0/24'], deletedAgo(60_000), 'True'),
    others: [range('b', ['10.0.0.0/16'], held, 'True')],
    addresses: [address('10.0.0.7')],
    wanted: { action: 'finalizers', finalizers: [] },
  },
  {
    name: 'removes the finalizer of a range whose addresses are all in smaller ranges (IPA-22, IPA-24)',
    range: range('a', ['10.0.0.0/24'], deletedAgo(60_000), 'True'),
    others: [range('b', ['10.0.0.0/28'], held, 'True')],
    addresses: [address('10.0.0.7')],
    wanted: { action: 'finalizers', finalizers: [] },
  },
  {
    name: 'ignores other ranges that are being deleted',
    range: range('a', ['10.0.0.0/24'], deletedAgo(60_000), 'True'),
    others: [range('b', ['10.0.0.0/16'], deletedAgo(60_000), 'True')],
    addresses: [address('10.0.0.7')],
    wanted: terminating,
  },
  {
    name: 'checks both families (IPA-24)',
    range: range('a', ['10.0.0.0/24', 'fd00::/112'], deletedAgo(60_000), 'True'),
    others: [range('b', ['10.0.0.0/16'], held, 'True')],
    addresses: [address('fd00::7')],
    wanted: terminating,
  },
  {
    name: 'does nothing for a range with other finalizers only',
    range: range('a', ['10.0.0.0/24'], { ...deletedAgo(60_000), finalizers: ['x/y'] }, 'True'),
    wanted: { action: 'none' },
  },
];
for (const { name, range: serviceCidr, others = [], addresses = [], wanted } of cases) {
  test(`nextStep() ${name}`, () => {
    assert.deepEqual(
      nextStep({ serviceCidr, all: [serviceCidr, ...others], addresses, now }),
      wanted,
    );
  });
}
