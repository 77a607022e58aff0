import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completeStoredService } from './complete-stored.ts';
import { exampleService } from './example.ts';
import type { IPFamily, Service, ServiceSpec } from './types.ts';

function old(spec: ServiceSpec): Service {
  const { metadata, ...rest } = exampleService();
  return { ...rest, metadata, spec: { type: 'ClusterIP', ...spec } };
}

type Case = {
  readonly title: string;
  readonly spec: ServiceSpec;
  readonly families?: readonly IPFamily[];
  readonly wanted: ServiceSpec;
};

const selector = { app: 'web' };
const cases: readonly Case[] = [
  {
    title: 'makes a list of one address and names its family',
    spec: { clusterIP: '10.96.0.1', selector },
    wanted: { clusterIPs: ['10.96.0.1'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
  },
  {
    title: 'names the family of the address, not of the cluster',
    spec: { clusterIP: 'fd00::1', selector },
    wanted: { clusterIPs: ['fd00::1'], ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack' },
  },
  {
    title: 'names both families of two addresses',
    spec: { clusterIP: '10.96.0.1', clusterIPs: ['10.96.0.1', 'fd00::1'] },
    wanted: {
      clusterIPs: ['10.96.0.1', 'fd00::1'],
      ipFamilies: ['IPv4', 'IPv6'],
      ipFamilyPolicy: 'RequireDualStack',
    },
  },
  {
    title: "gives a headless one with a selector the cluster's first family",
    spec: { clusterIP: 'None', selector },
    families: ['IPv6', 'IPv4'],
    wanted: { clusterIPs: ['None'], ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack' },
  },
  {
    title: 'gives a headless one without a selector both, also where the cluster has one',
    spec: { clusterIP: 'None' },
    families: ['IPv6'],
    wanted: {
      clusterIPs: ['None'],
      ipFamilies: ['IPv6', 'IPv4'],
      ipFamilyPolicy: 'RequireDualStack',
    },
  },
];

const usual: readonly IPFamily[] = ['IPv4'];

for (const { title, spec, families = usual, wanted } of cases) {
  test(`completeStoredService() ${title} (API-61)`, () => {
    assert.deepEqual(completeStoredService(old(spec), families).spec, {
      type: 'ClusterIP',
      ...spec,
      ...wanted,
    });
  });
}

test('completeStoredService() keeps unknown fields (API-61)', () => {
  const spec = { clusterIP: '10.96.0.1', topologyKeys: ['*'] };
  assert.deepEqual(
    Object.keys(completeStoredService(old(spec as ServiceSpec), ['IPv4']).spec).sort(),
    ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'topologyKeys', 'type'],
  );
});

test('completeStoredService() returns the same object where nothing is missing (API-61)', () => {
  const complete = exampleService();
  const external = old({ type: 'ExternalName', externalName: 'example.com' });
  const unassigned = old({ selector });
  for (const service of [complete, external, unassigned]) {
    assert.equal(completeStoredService(service, ['IPv4']), service);
  }
});
