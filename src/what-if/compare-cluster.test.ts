import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { examplePod } from '../kinds/pod/example.ts';
import type { Pod } from '../kinds/pod/types.ts';
import type { PodDisruptionBudget } from '../kinds/pod-disruption-budget/types.ts';
import { exampleService } from '../kinds/service/example.ts';
import type { ServiceSpec } from '../kinds/service/types.ts';
import { exampleDeployment, exampleNode, exampleSnapshot } from '../snapshot/example.ts';
import { makeSnapshot } from '../snapshot/snapshot.ts';
import {
  type ExampleChange,
  exampleCluster,
  exampleWhatIf,
  podOn,
  serviceIn,
  viewsInShort,
} from './example.ts';

const serviceWith = (spec: Partial<ServiceSpec>, name = 'web') =>
  exampleService({
    metadata: { name, uid: `service-${name}` },
    spec: { selector: { app: name }, ...spec },
  });

describe('compareCluster() drains', () => {
  it('moves the shares to the other nodes', () => {
    const found = exampleWhatIf(exampleCluster(), [['drain', 'node/n2']]);
    assert.deepEqual(viewsInShort(serviceIn(found)), [
      '80 all clients: answered>answered: n1 33>33, n1 33>33, n2 33>0, new@n1 0>33',
    ]);
    assert.deepEqual(found.verdict, {
      level: 'change',
      sentence:
        'Service default/web shares new connections differently and loses open connections to 1 pod',
    });
    assert.deepEqual(found.pods, { evicted: 1, deleted: 0, created: 1, unscheduled: [] });
    assert.deepEqual(
      serviceIn(found).views[0]?.zones.map(({ zone, before, after }) => [
        zone,
        before.toFixed(2),
        after.toFixed(2),
      ]),
      [
        ['a', '0.67', '1.00'],
        ['b', '0.33', '0.00'],
      ],
    );
  });

  it('finds that a Service has no endpoint until its only pod runs elsewhere', () => {
    const before = exampleCluster({ deployments: [exampleDeployment('web', { replicas: 1 })] });
    const found = exampleWhatIf(before, [['drain', 'node/n1']]);
    assert.equal(found.verdict.level, 'interruption');
    assert.deepEqual(viewsInShort(serviceIn(found)), [
      '80 all clients: answered>refused>answered: n1 100>0, new@n2 0>100',
    ]);
  });

  it('says in the words of the scheduler why no node takes the pods', () => {
    const before = exampleCluster();
    const found = exampleWhatIf(before, [
      ['drain', 'node/n1'],
      ['drain', 'node/n2'],
    ]);
    assert.equal(found.verdict.level, 'outage');
    assert.match(
      found.verdict.sentence,
      /loses its last endpoint for all clients; 3 new pods would/,
    );
    assert.deepEqual(
      found.pods.unscheduled.map(({ count, message }) => [count, message]),
      [[3, '0/2 nodes are available: 2 node(s) were unschedulable.']],
    );
  });

  it('names pods that no controller makes anew', () => {
    const pod = examplePod({
      metadata: { name: 'bare', namespace: 'default', uid: 'bare', labels: { app: 'web' } },
      spec: { ...examplePod().spec, nodeName: 'n1' },
      status: {
        phase: 'Running',
        podIP: '10.244.1.77',
        podIPs: [{ ip: '10.244.1.77' }],
        conditions: [
          { type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: null },
        ],
      },
    });
    const before = exampleCluster({ deployments: [], pods: [pod] });
    const found = exampleWhatIf(before, [['drain', 'node/n1']]);
    assert.equal(found.verdict.level, 'outage');
    assert.ok(
      found.assumptions.some((text) => /kubectl drain needs --force.*default\/bare/.test(text)),
    );
  });
});

describe('compareCluster() knows disruption budgets', () => {
  const budgetOf = (disruptionsAllowed: number): PodDisruptionBudget => ({
    kind: 'PodDisruptionBudget',
    apiVersion: 'policy/v1',
    metadata: { name: 'guard', namespace: 'default' },
    spec: { minAvailable: 3, selector: { matchLabels: { app: 'web' } } },
    status: { disruptionsAllowed, currentHealthy: 3, desiredHealthy: 3, expectedPods: 3 },
  });
  const assumptionsWith = (allowed: number): readonly string[] =>
    exampleWhatIf(exampleCluster({ podDisruptionBudgets: [budgetOf(allowed)] }), [
      ['drain', 'node/n1'],
    ]).assumptions.filter((text) => text.includes('disruption budget'));

  it('says for which one a drain waits', () => {
    assert.deepEqual(assumptionsWith(0), [
      'The drain of n1 gets past the disruption budget default/guard, which allows no eviction now and is about 2 pods there: kubectl drain waits until it allows more',
    ]);
    assert.equal(assumptionsWith(1).length, 1);
    assert.deepEqual(assumptionsWith(2), []);
  });
});

describe('compareCluster() knows workloads by their pods', () => {
  it('leaves static pods and those of DaemonSets, and makes those of unknown controllers anew', () => {
    const { pods, ...rest } = exampleCluster().objects;
    const [one] = pods;
    assert.ok(one !== undefined);
    const ownedBy = (kind: string, name: string, annotations = {}): Pod => ({
      ...one,
      metadata: {
        ...{ name, namespace: 'default', uid: name, labels: { app: 'other' }, annotations },
        ownerReferences: [
          { apiVersion: 'apps/v1', kind, name: `of-${name}`, uid: `u-${name}`, controller: true },
        ],
      },
      spec: { ...one.spec, nodeName: 'n1' },
      status: {
        ...one.status,
        podIP: `10.244.1.${100 + name.length}`,
        podIPs: [{ ip: `10.244.1.${100 + name.length}` }],
      },
    });
    const extra = [
      ownedBy('DaemonSet', 'agent'),
      ownedBy('Node', 'static', { 'kubernetes.io/config.mirror': 'x' }),
      ownedBy('StatefulSet', 'db-0'),
      ownedBy('Rollout', 'canary-x'),
    ];
    const before = makeSnapshot({
      objects: {
        ...rest,
        pods: extra,
        deployments: [],
        replicaSets: [],
        services: [serviceWith({}, 'other')],
        endpointSlices: [],
        endpoints: [],
      },
    });
    // Slices first: none of this changes anything.
    const settled = exampleWhatIf(before, [['cordon', 'node/n2']]);
    assert.equal(settled.verdict.level, 'none');
    const found = exampleWhatIf(before, [['drain', 'node/n1']]);
    assert.match(found.changes[0] ?? '', /2 pods evicted, 2 of DaemonSets or static stay/);
    assert.deepEqual(found.pods, { evicted: 2, deleted: 0, created: 2, unscheduled: [] });
    assert.ok(
      found.assumptions.some((text) => /^StatefulSet default\/of-db-0 is taken/.test(text)),
    );
  });
});

describe('compareCluster() compares policies and places', () => {
  it('by the node on which clients are', () => {
    const before = exampleCluster({ nodes: [exampleNode(1), exampleNode(2), exampleNode(3)] });
    const found = exampleWhatIf(
      exampleCluster({
        nodes: before.objects.nodes,
        deployments: [exampleDeployment('web', { replicas: 2 })],
      }),
      [['set', 'svc/web:internalTrafficPolicy=Local']],
    );
    assert.deepEqual(viewsInShort(serviceIn(found)), [
      '80 clients on n1: answered>answered: n1 50>100, n2 50>0',
      '80 clients on n2: answered>answered: n1 50>0, n2 50>100',
      '80 clients on n3: answered>dropped: n1 50>0, n2 50>0',
    ]);
    assert.match(found.verdict.sentence, /^Outage: .* loses its last endpoint for clients on n3$/);
  });

  it('by zone where hints do', () => {
    const found = exampleWhatIf(
      exampleCluster({ deployments: [exampleDeployment('web', { replicas: 2 })] }),
      [['set', 'svc/web:trafficDistribution=PreferSameZone']],
    );
    assert.deepEqual(viewsInShort(serviceIn(found)), [
      '80 clients on n1: answered>answered: n1 50>100, n2 50>0',
      '80 clients on n2: answered>answered: n1 50>0, n2 50>100',
    ]);
  });

  it('does not call it an outage where a drain leaves hardly a client, or a balancer checks', () => {
    const deployments = [exampleDeployment('web', { replicas: 2 })];
    const local = serviceWith({ internalTrafficPolicy: 'Local' });
    const drained = exampleWhatIf(exampleCluster({ deployments, services: [local] }), [
      ['drain', 'node/n2'],
    ]);
    assert.equal(drained.verdict.level, 'change');
    const balanced = exampleService({
      metadata: { uid: 'service-web' },
      spec: {
        ...{ type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30100 },
        selector: { app: 'web' },
        ports: [{ protocol: 'TCP', port: 80, targetPort: 80, nodePort: 30080 }],
      },
      status: { loadBalancer: { ingress: [{ ip: '203.0.113.9' }] } },
    });
    const checked = exampleWhatIf(exampleCluster({ deployments, services: [balanced] }), [
      ['drain', 'node/n2'],
    ]);
    assert.equal(checked.verdict.level, 'change');
    assert.ok(
      viewsInShort(serviceIn(checked)).includes(
        '80 clients outside (load-balancer-ip) that arrive at n2: answered>dropped: n2 100>0',
      ),
    );
  });
});

describe('compareCluster() lists what appears and vanishes', () => {
  it('of a deleted Service', () => {
    const found = exampleWhatIf(exampleCluster(), [['delete', 'svc/web']]);
    const { entrances, names, existence, level } = serviceIn(found);
    assert.deepEqual([existence, level], ['deleted', 'outage']);
    assert.deepEqual(entrances, [
      { change: 'vanishes', kind: 'cluster-ip', address: '10.96.0.20', port: 80, protocol: 'TCP' },
    ]);
    assert.deepEqual(
      names.map(({ name, type, change }) => `${name} ${type} ${change}`),
      ['web.default.svc.cluster.local A vanishes'],
    );
  });

  it('of a Service that becomes a node port, by the own allocation of the server', () => {
    const found = exampleWhatIf(exampleCluster(), [['set', 'svc/web:type=NodePort']]);
    const { entrances, level } = serviceIn(found);
    assert.equal(level, 'change');
    assert.deepEqual(
      entrances.map(({ change, kind }) => `${kind} ${change}`),
      ['node-port appears'],
    );
  });

  it('of a headless Service, whose records are its endpoints', () => {
    const headless = serviceWith({ clusterIP: 'None', clusterIPs: ['None'] });
    const found = exampleWhatIf(exampleCluster({ services: [headless] }), [
      ['scale', 'deploy/web=1'],
    ]);
    const [change] = serviceIn(found).names;
    assert.deepEqual(
      [change?.change, change?.before.length, change?.after.length],
      ['changes', 3, 1],
    );
    assert.match(viewsInShort(serviceIn(found))[0] ?? '', /^80 all clients: answered>answered/);
    const gone = exampleWhatIf(exampleCluster({ services: [headless] }), [
      ['scale', 'deploy/web=0'],
    ]);
    assert.equal(serviceIn(gone).views[0]?.after, 'no-such-name');
    assert.equal(gone.verdict.level, 'outage');
  });

  it('says whose connections end, and whose go on', () => {
    const before = exampleCluster({
      services: [
        serviceWith({
          sessionAffinity: 'ClientIP',
          sessionAffinityConfig: { clientIP: { timeoutSeconds: 600 } },
        }),
      ],
    });
    const pod = podOn(before, 'n2');
    const deleted = serviceIn(exampleWhatIf(before, [['delete', `pod/${pod}`]])).connections;
    assert.deepEqual(
      deleted.ends.map((one) => one.pod),
      [`default/${pod}`],
    );
    assert.equal(deleted.affinitySeconds, 600);
    const unready = serviceIn(exampleWhatIf(before, [['unready', `pod/${pod}`]])).connections;
    assert.deepEqual(unready, { ends: [], stays: [`default/${pod}`] });
  });
});

describe('compareCluster() rolls templates out', () => {
  const image: ExampleChange = ['set', 'deploy/web:template.spec.containers[0].image=app:2'];

  it('pod by pod, so that there is no interruption', () => {
    const found = exampleWhatIf(exampleCluster(), [image]);
    assert.deepEqual(
      [found.verdict.level, found.pods.created, found.pods.deleted],
      ['change', 3, 3],
    );
  });

  it('with one where the strategy ends all pods first', () => {
    const strategy = { strategy: { type: 'Recreate' } };
    const before = exampleCluster({ deployments: [exampleDeployment('web', strategy)] });
    assert.equal(exampleWhatIf(before, [image]).verdict.level, 'interruption');
  });
});

it('compareCluster() changes nothing of the snapshot', () => {
  const before = exampleCluster();
  const text = JSON.stringify(before);
  exampleWhatIf(before, [
    ['drain', 'node/n1'],
    ['set', 'svc/web:sessionAffinity=ClientIP'],
    ['scale', 'deploy/web=5'],
  ]);
  assert.equal(JSON.stringify(before), text);
  assert.equal(exampleWhatIf(exampleSnapshot(), [['cordon', 'node/n1']]).services.length, 0);
});
