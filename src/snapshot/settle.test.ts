import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Endpoint } from '../kinds/endpoint-slice/types.ts';
import { examplePod } from '../kinds/pod/example.ts';
import { isPodReady, podCondition } from '../kinds/pod/readiness.ts';
import type { Pod } from '../kinds/pod/types.ts';
import { exampleService } from '../kinds/service/example.ts';
import { exampleDeployment, exampleNode, exampleSnapshot, now } from './example.ts';
import { maxNewPods, settle, TooManyPodsError } from './settle.ts';
import { makeSnapshot, type Snapshot, type SnapshotObjects } from './snapshot.ts';

const settled = (objects: Partial<SnapshotObjects> = {}): Snapshot =>
  settle(exampleSnapshot(objects), { now });

/** Settles what differs from a settled cluster. */
function changed(before: Snapshot, objects: Partial<SnapshotObjects>): Snapshot {
  const after = makeSnapshot({ ...before, objects: { ...before.objects, ...objects } });
  return settle(after, { now, since: before });
}

const endpointsOf = ({ objects }: Snapshot, service = 'web'): readonly Endpoint[] =>
  objects.endpointSlices
    .filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === service)
    .flatMap(({ endpoints }) => endpoints ?? []);

const assigned = ({ objects }: Snapshot): readonly string[] =>
  objects.pods.map(({ spec, status }) => `${spec.nodeName} ${status.podIP}`).sort();

describe('settle()', () => {
  it('makes replica sets, pods and slices of a deployment and its Service', () => {
    const snapshot = settled();
    assert.deepEqual(assigned(snapshot), ['n1 10.244.1.2', 'n1 10.244.1.3', 'n2 10.244.2.2']);
    assert.equal(snapshot.objects.replicaSets.length, 1);
    assert.equal(snapshot.objects.deployments[0]?.status.availableReplicas, 3);
    assert.deepEqual(
      endpointsOf(snapshot)
        .map(({ addresses, zone, conditions }) => [addresses?.[0], zone, conditions.ready])
        .sort(),
      [
        ['10.244.1.2', 'a', true],
        ['10.244.1.3', 'a', true],
        ['10.244.2.2', 'b', true],
      ],
    );
    const subsets = snapshot.objects.endpoints[0]?.subsets;
    assert.equal(subsets?.[0]?.addresses?.length, 3);
  });

  it('changes nothing that is settled', () => {
    const snapshot = settled();
    assert.deepEqual(settle(snapshot, { now }), snapshot);
    const again = settle(snapshot, { now, since: snapshot });
    for (const kind of ['pods', 'endpointSlices', 'deployments'] as const) {
      assert.ok(again.objects[kind].every((one, index) => one === snapshot.objects[kind][index]));
    }
  });

  it('waits for minReadySeconds', () => {
    const { objects } = settled({
      deployments: [exampleDeployment('web', { minReadySeconds: 600 })],
    });
    assert.equal(objects.deployments[0]?.status.availableReplicas, 3);
  });

  it('rolls a new template out, and leaves the old replica set empty', () => {
    const before = settled();
    const image = { containers: [{ name: 'app', image: 'app:2' }] };
    const after = changed(before, { deployments: [exampleDeployment('web', {}, image)] });
    assert.deepEqual(
      after.objects.pods.map(({ spec }) => spec.containers?.[0]?.image),
      ['app:2', 'app:2', 'app:2'],
    );
    assert.deepEqual(after.objects.replicaSets.map(({ spec }) => spec.replicas).sort(), [0, 3]);
    assert.equal(endpointsOf(after).length, 3);
  });

  it('recreates pods where the strategy says so', () => {
    const strategy = { strategy: { type: 'Recreate' } };
    const before = settled({ deployments: [exampleDeployment('web', strategy)] });
    const image = { containers: [{ name: 'app', image: 'app:2' }] };
    const after = changed(before, { deployments: [exampleDeployment('web', strategy, image)] });
    assert.deepEqual(
      new Set(after.objects.pods.map(({ spec }) => spec.containers?.[0]?.image)),
      new Set(['app:2']),
    );
  });

  it('moves the pods of a missing node to the others', () => {
    const before = settled();
    const after = changed(before, { nodes: [exampleNode(2)] });
    assert.deepEqual(new Set(after.objects.pods.map(({ spec }) => spec.nodeName)), new Set(['n2']));
    assert.equal(endpointsOf(after).length, 3);
  });
});

describe('settle() schedules pods', () => {
  it('leaves pods pending that no node takes, in the words of the scheduler', () => {
    const full = {
      containers: [{ name: 'app', image: 'a', resources: { requests: { cpu: '3' } } }],
    };
    const { objects } = settled({ deployments: [exampleDeployment('web', {}, full)] });
    const waiting = objects.pods.filter(({ spec }) => !spec.nodeName);
    assert.equal(waiting.length, 1);
    assert.deepEqual(
      podCondition(waiting[0] as Pod, 'PodScheduled')?.message,
      '0/2 nodes are available: 2 Insufficient cpu.',
    );
    assert.equal(
      endpointsOf(settled({ deployments: [exampleDeployment('web', {}, full)] })).length,
      2,
    );
  });

  it('uses the room that a change leaves', () => {
    const full = {
      containers: [{ name: 'app', image: 'a', resources: { requests: { cpu: '3' } } }],
    };
    const [web, other] = [exampleDeployment('web', {}, full), exampleDeployment('other', {}, full)];
    const before = settled({ deployments: [web, other] });
    const after = changed(before, {
      deployments: before.objects.deployments.filter(({ metadata }) => metadata.name !== 'web'),
    });
    const running = after.objects.pods.filter(({ spec }) => spec.nodeName);
    assert.deepEqual(
      running.map(({ metadata }) => metadata.labels?.app),
      ['other', 'other'],
    );
    assert.deepEqual(endpointsOf(after), []);
  });

  it('gives made-up nodes every pod', () => {
    const picky = { nodeSelector: { disk: 'fast' } };
    const snapshot = exampleSnapshot({ deployments: [exampleDeployment('web', {}, picky)] });
    const nodes = settle(snapshot, { now, fitsAnywhere: true }).objects.pods.map(
      (pod) => pod.spec.nodeName,
    );
    assert.deepEqual(nodes.sort(), ['n1', 'n1', 'n2']);
  });
});

describe('settle() adopts and mirrors', () => {
  it('adopts pods that a selector matches', () => {
    const bare = examplePod({ metadata: { name: 'bare', uid: 'bare', labels: { app: 'web' } } });
    const before = settled();
    const [set] = before.objects.replicaSets;
    const labels = set?.spec.template.metadata.labels ?? {};
    const after = changed(before, {
      pods: [...before.objects.pods, { ...bare, metadata: { ...bare.metadata, labels } }],
    });
    assert.equal(after.objects.pods.length, 3);
  });

  it('mirrors Endpoints of Services without a selector', () => {
    const service = exampleService({ metadata: { name: 'db', uid: 'db' } });
    const endpoints = {
      kind: 'Endpoints',
      apiVersion: 'v1',
      metadata: { name: 'db', namespace: 'default', uid: 'endpoints-db' },
      subsets: [{ addresses: [{ ip: '192.0.2.9' }], ports: [{ port: 5432, protocol: 'TCP' }] }],
    };
    const before = settled({ services: [service], endpoints: [endpoints] });
    assert.deepEqual(
      endpointsOf(before, 'db').map(({ addresses }) => addresses),
      [['192.0.2.9']],
    );
    const after = changed(before, { services: [] });
    assert.deepEqual(endpointsOf(after, 'db'), []);
  });
});

describe('settle() lets pods run', () => {
  const notReady: readonly (readonly [string, object])[] = [
    [
      'has a readiness gate that is not set',
      { readinessGates: [{ conditionType: 'a.example/b' }] },
    ],
    [
      'is probed on a port that it does not name',
      { containers: [{ name: 'app', image: 'a', readinessProbe: { httpGet: { port: 'web' } } }] },
    ],
  ];
  for (const [name, pod] of notReady) {
    it(`leaves a pod unready that ${name}`, () => {
      const snapshot = settled({ deployments: [exampleDeployment('web', {}, pod)] });
      assert.ok(!snapshot.objects.pods.some(isPodReady));
      assert.deepEqual(
        endpointsOf(snapshot).map(({ conditions }) => conditions.ready),
        [false, false, false],
      );
    });
  }

  it('expects of new pods what the running ones of their set show', () => {
    const before = settled();
    const crashing = before.objects.pods.map(
      (pod): Pod => ({
        ...pod,
        status: {
          ...pod.status,
          conditions: [
            { type: 'Ready', status: 'False', lastProbeTime: null, lastTransitionTime: null },
          ],
        },
      }),
    );
    const broken = changed(before, { pods: crashing });
    const [deployment] = broken.objects.deployments;
    assert.ok(deployment);
    const more = { ...deployment, spec: { ...deployment.spec, replicas: 5 } };
    const after = changed(broken, { deployments: [more] });
    assert.equal(after.objects.pods.length, 5);
    assert.ok(!after.objects.pods.some(isPodReady));
  });

  it('gives pods on the network of their node its addresses', () => {
    const { objects } = settled({
      deployments: [exampleDeployment('web', { replicas: 1 }, { hostNetwork: true })],
    });
    assert.deepEqual(
      objects.pods.map(({ status }) => status.podIP),
      ['192.0.2.1'],
    );
  });

  it('takes spare addresses where those of the node are not used', () => {
    const odd = examplePod({
      metadata: { name: 'odd', uid: 'odd' },
      spec: { nodeName: 'n1' },
      status: { phase: 'Running', podIP: '172.31.0.9', podIPs: [{ ip: '172.31.0.9' }] },
    });
    const { objects } = settled({ pods: [odd], nodes: [exampleNode(1)] });
    assert.deepEqual(
      objects.pods.slice(1).map(({ status }) => status.podIP),
      ['198.18.0.2', '198.18.0.3', '198.18.0.4'],
    );
  });
});

describe('settle() settles only what a change touches', () => {
  it('updates the zone of endpoints when that of their node changes', () => {
    const before = settled();
    const after = changed(before, { nodes: [exampleNode(1, { zone: 'c' }), exampleNode(2)] });
    assert.deepEqual(new Set(endpointsOf(after).map(({ zone }) => zone)), new Set(['b', 'c']));
  });

  it('leaves Services alone that nothing touches', () => {
    const stale = exampleService({
      metadata: { name: 'stale', uid: 'stale' },
      spec: { selector: { app: 'web' } },
    });
    const before = settled();
    const both = makeSnapshot({
      objects: { ...before.objects, services: [...before.objects.services, stale] },
    });
    const since = settle(both, { now, since: both });
    assert.deepEqual(endpointsOf(since, 'stale'), []);
  });

  it('refuses to make more pods than it can schedule', () => {
    const huge = exampleDeployment('web', { replicas: maxNewPods + 1 });
    assert.throws(() => settled({ deployments: [huge] }), TooManyPodsError);
  });
});
