import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daemonPod, daemonTolerations, isUpdated, nodeOf } from './daemon-pod.ts';
import { daemonOn, exampleDaemonSet } from './example.ts';

const generation = { 'deprecated.daemonset.template.generation': '3' };

test('daemonPod() is bound to its node by the scheduler', () => {
  const set = exampleDaemonSet({
    template: {
      affinity: {
        podAffinity: {},
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'x', operator: 'Exists' }] }],
          },
        },
      },
    },
  });
  const annotated = { ...set, metadata: { ...set.metadata, annotations: generation } };
  const pod = daemonPod(annotated, 'n1', 'abc');
  assert.equal(pod.metadata.generateName, 'd-');
  assert.deepEqual(pod.metadata.labels, {
    app: 'web',
    'pod-template-generation': '3',
    'controller-revision-hash': 'abc',
  });
  const required = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  assert.deepEqual(required?.nodeSelectorTerms, [
    { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] },
  ]);
  assert.ok(pod.spec.affinity?.podAffinity);
  assert.equal(nodeOf(pod), 'n1');
  assert.equal(isUpdated(pod, annotated, 'abc'), true);
});

test('daemonTolerations() adds those of daemons and replaces one with a time', () => {
  const own = [
    { key: 'mine', operator: 'Exists' },
    {
      key: 'node.kubernetes.io/not-ready',
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 5,
    },
  ];
  const keys = (hostNetwork: boolean) =>
    daemonTolerations({ tolerations: own, hostNetwork }).map(
      ({ key = '', effect = '', tolerationSeconds }) =>
        `${key.replace('node.kubernetes.io/', '')} ${effect}${tolerationSeconds ?? ''}`,
    );
  const want = [
    'mine ',
    'not-ready NoExecute',
    'unreachable NoExecute',
    'disk-pressure NoSchedule',
    'memory-pressure NoSchedule',
    'pid-pressure NoSchedule',
    'unschedulable NoSchedule',
  ];
  assert.deepEqual(keys(false), want);
  assert.deepEqual(keys(true), [...want, 'network-unavailable NoSchedule']);
});

test('isUpdated() goes by the hash, or by the generation of the template', () => {
  const set = exampleDaemonSet();
  assert.equal(isUpdated(daemonOn('a', { hash: 'x' }), set, 'x'), true);
  assert.equal(isUpdated(daemonOn('a', { hash: 'x' }), set, 'y'), false);
  const annotated = { ...set, metadata: { ...set.metadata, annotations: generation } };
  const pod = daemonOn('a', { hash: 'x' });
  const labels = { ...pod.metadata.labels, 'pod-template-generation': '3' };
  const counted = { ...pod, metadata: { ...pod.metadata, labels } };
  assert.equal(isUpdated(counted, annotated, 'y'), true);
});
