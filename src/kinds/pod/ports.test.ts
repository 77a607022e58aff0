import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePod } from './example.ts';
import { podGraceSeconds } from './grace.ts';
import { imageTag } from './image-tag.ts';
import { findContainerPort } from './ports.ts';
import { preparePodCreate } from './prepare.ts';
import { isPodFinished, isPodReady, podCondition } from './readiness.ts';

test('findContainerPort() searches containers, then sidecars', () => {
  const pod = examplePod({
    spec: {
      containers: [
        { name: 'a', image: 'i', ports: [{ name: 'dns', containerPort: 53, protocol: 'UDP' }] },
        { name: 'b', image: 'i', ports: [{ name: 'dns', containerPort: 54 }] },
      ],
      initContainers: [
        { name: 'i', image: 'i', ports: [{ name: 'once', containerPort: 1 }] },
        {
          name: 's',
          image: 'i',
          restartPolicy: 'Always',
          ports: [{ name: 'side', containerPort: 9 }],
        },
      ],
    },
  });
  const cases: readonly [string, string, number | undefined][] = [
    ['dns', 'UDP', 53],
    ['dns', 'TCP', 54],
    ['dns', 'SCTP', undefined],
    ['side', 'TCP', 9],
    ['once', 'TCP', undefined],
  ];
  for (const [name, protocol, wanted] of cases) {
    assert.equal(
      findContainerPort(pod, name, protocol)?.containerPort,
      wanted,
      `${name}/${protocol}`,
    );
  }
});

test('isPodReady() and isPodFinished() read the status', () => {
  const ready = examplePod({ status: { conditions: [{ type: 'Ready', status: 'True' }] } });
  assert.equal(isPodReady(ready), true);
  assert.equal(isPodReady(examplePod()), false);
  assert.equal(podCondition(ready, 'Ready')?.lastTransitionTime, null);
  assert.equal(isPodFinished(examplePod({ status: { phase: 'Failed' } })), true);
});

test('podGraceSeconds() is 0 when no kubelet has to terminate the pod', () => {
  const spec = { nodeName: 'n' };
  const cases: readonly [Parameters<typeof examplePod>[0], number | undefined, number][] = [
    [{}, 40, 0],
    [{ spec }, undefined, 30],
    [{ spec }, 0, 0],
    [{ spec }, -5, 1],
    [{ spec: { ...spec, terminationGracePeriodSeconds: 0 } }, undefined, 0],
    [{ spec, status: { phase: 'Succeeded' } }, 40, 0],
  ];
  for (const [pod, seconds, wanted] of cases) {
    const request = seconds === undefined ? {} : { gracePeriodSeconds: seconds };
    assert.equal(podGraceSeconds(examplePod(pod), request), wanted);
  }
});

test('imageTag() reads references', () => {
  const cases: readonly [string, string][] = [
    ['nginx', 'latest'],
    ['nginx:1.27', '1.27'],
    ['localhost:5000/a/b', 'latest'],
    ['localhost:5000/a/b:v1', 'v1'],
    [`nginx@sha256:${'0'.repeat(64)}`, ''],
    ['Not an image', ''],
  ];
  for (const [image, wanted] of cases) assert.equal(imageTag(image), wanted, image);
});

test('preparePodCreate() sets the quality of service class', () => {
  const of = (resources: object) =>
    preparePodCreate(examplePod({ spec: { containers: [{ name: 'c', image: 'i', resources }] } }))
      .status.qosClass;
  assert.equal(of({}), 'BestEffort');
  assert.equal(of({ limits: { cpu: '1', memory: '1Gi' } }), 'Guaranteed');
  assert.equal(
    of({ limits: { cpu: '1000m', memory: '1Gi' }, requests: { cpu: '1' } }),
    'Guaranteed',
  );
  assert.equal(of({ limits: { cpu: '1' } }), 'Burstable');
  assert.equal(of({ requests: { cpu: '1' } }), 'Burstable');
});
