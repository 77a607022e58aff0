import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../kinds/pod/types.ts';
import { exampleService } from '../kinds/service/example.ts';
import { exampleDeployment } from '../snapshot/example.ts';
import { TooManyPodsError } from '../snapshot/settle.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { ChangeError } from './change.ts';
import { exampleCluster, exampleWhatIf } from './example.ts';
import type { ServiceComparison, WhatIf } from './what-if.ts';

/** A cluster in which a workload of the kind has three ready pods behind a headless Service and another one. */
function clusterOf(kind: 'StatefulSet' | 'ReplicationController'): Snapshot {
  const services = ['names', 'web'].map((name) =>
    exampleService({
      metadata: { name, uid: `service-${name}` },
      spec: {
        selector: { app: 'db' },
        ...(name === 'names' ? { clusterIP: 'None', clusterIPs: ['None'] } : {}),
      },
    }),
  );
  const made = exampleCluster({ services, deployments: [exampleDeployment('db')] }).objects;
  const owner = { apiVersion: 'apps/v1', kind, name: 'db', uid: 'db', controller: true };
  const pods = made.pods.map((pod, at): Pod => {
    const name = kind === 'StatefulSet' ? `db-${at}` : `db-${'abc'[at]}`;
    return {
      ...pod,
      metadata: { ...pod.metadata, name, uid: name, ownerReferences: [owner] },
      spec: { ...pod.spec, hostname: name, subdomain: 'names' },
    };
  });
  return exampleCluster({ services, pods, nodes: made.nodes, deployments: [] });
}

function serviceIn({ services }: WhatIf, name: string): ServiceComparison {
  const found = services.find((one) => one.name === name);
  assert.ok(found !== undefined, name);
  return found;
}

describe('scaleByPods()', () => {
  it('takes the highest numbers of a StatefulSet, and their names', () => {
    const found = exampleWhatIf(clusterOf('StatefulSet'), [['scale', 'sts/db=1']]);
    const { connections, names } = serviceIn(found, 'names');
    assert.deepEqual(
      connections.ends.map(({ pod }) => pod),
      ['default/db-1', 'default/db-2'],
    );
    assert.deepEqual(
      names.map(({ name, change }) => `${name.split('.default')[0]} ${change}`),
      ['names changes', 'db-1.names vanishes', 'db-2.names vanishes'],
    );
    assert.deepEqual(found.pods, { evicted: 0, deleted: 2, created: 0, unscheduled: [] });
  });

  it('gives new pods of a StatefulSet the next numbers', () => {
    const found = exampleWhatIf(clusterOf('StatefulSet'), [['scale', 'sts/db=5']]);
    const added = serviceIn(found, 'names').names.filter(({ change }) => change === 'appears');
    assert.deepEqual(
      added.map(({ name }) => name.split('.')[0]),
      ['db-3', 'db-4'],
    );
    assert.equal(serviceIn(found, 'web').views[0]?.endpoints[0]?.after, 0.2);
  });

  it('makes an evicted pod of a StatefulSet anew under its name, at another address', () => {
    const before = clusterOf('StatefulSet');
    const node = before.objects.pods.find(({ metadata }) => metadata.name === 'db-0')?.spec
      .nodeName;
    const found = exampleWhatIf(before, [['drain', `node/${node}`]]);
    const change = serviceIn(found, 'names').names.find(({ name }) => name.startsWith('db-0.'));
    assert.equal(change?.change, 'changes');
    assert.equal(found.pods.created, found.pods.evicted);
  });

  it('takes pods of a ReplicationController by rank, and adds alike ones', () => {
    const fewer = exampleWhatIf(clusterOf('ReplicationController'), [['scale', 'rc/db=2']]);
    assert.deepEqual(fewer.pods, { evicted: 0, deleted: 1, created: 0, unscheduled: [] });
    const more = exampleWhatIf(clusterOf('ReplicationController'), [['scale', 'rc/db=4']]);
    assert.equal(more.pods.created, 1);
  });

  it('deletes a workload with its pods for good', () => {
    const found = exampleWhatIf(clusterOf('StatefulSet'), [['delete', 'sts/db']]);
    assert.equal(found.verdict.level, 'outage');
    assert.equal(found.pods.created, 0);
  });

  it('refuses what is too much, or less than nothing', () => {
    const before = clusterOf('StatefulSet');
    assert.throws(() => exampleWhatIf(before, [['scale', 'sts/db=100000']]), TooManyPodsError);
    assert.throws(() => exampleWhatIf(before, [['scale', 'sts/db=-1']]), ChangeError);
  });
});

describe('deleteObject()', () => {
  it('takes what is in a namespace with it', () => {
    const found = exampleWhatIf(clusterOf('StatefulSet'), [['delete', 'ns/default']]);
    assert.deepEqual(found.services.map(({ name, existence }) => `${name} ${existence}`).sort(), [
      'names deleted',
      'web deleted',
    ]);
    assert.equal(found.pods.created, 0);
  });

  it('says where node ports no longer answer', () => {
    const { changes } = exampleWhatIf(exampleCluster(), [['delete', 'node/n1']]);
    assert.match(changes[0] ?? '', /node ports no longer answer at 192\.0\.2\.1$/);
  });
});
