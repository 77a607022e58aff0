import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePod } from './example.ts';
import { preparePodCreate } from './prepare.ts';

test('defaultPod() and preparePodCreate() complete the smallest pod', () => {
  const pod = preparePodCreate(examplePod({ spec: { containers: [{ name: 'c', image: 'i' }] } }));
  assert.deepEqual(pod.spec, {
    containers: [
      {
        name: 'c',
        image: 'i',
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'Always',
      },
    ],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
    enableServiceLinks: true,
    priority: 0,
    preemptionPolicy: 'PreemptLowerPriority',
    tolerations: ['not-ready', 'unreachable'].map((taint) => ({
      key: `node.kubernetes.io/${taint}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 300,
    })),
  });
  assert.deepEqual(pod.status, { phase: 'Pending', qosClass: 'BestEffort' });
});

const container = (fields: object) => ({ containers: [{ name: 'c', image: 'i:1', ...fields }] });

test('defaultPod() completes containers', () => {
  const { spec } = examplePod({
    spec: {
      hostNetwork: true,
      ...container({
        ports: [{ containerPort: 80 }, { containerPort: 53, hostPort: 53, protocol: 'UDP' }],
        env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
        resources: { limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '1' } },
        readinessProbe: { httpGet: { port: 80 } },
      }),
    },
  });
  const [c] = spec.containers ?? [];
  assert.equal(c?.imagePullPolicy, 'IfNotPresent');
  assert.deepEqual(c?.ports, [
    { containerPort: 80, protocol: 'TCP', hostPort: 80 },
    { hostPort: 53, containerPort: 53, protocol: 'UDP' },
  ]);
  assert.equal(c?.env?.[0]?.valueFrom?.fieldRef?.apiVersion, 'v1');
  assert.deepEqual(c?.resources.requests, { cpu: '1', memory: '1Gi' });
  assert.deepEqual(c?.readinessProbe, {
    httpGet: { path: '/', port: 80, scheme: 'HTTP' },
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  });
});

test('defaultPod() completes volumes', () => {
  const cases: readonly [string, object, object][] = [
    ['no source is an empty directory', {}, { emptyDir: {} }],
    ['secret', { secret: { secretName: 's' } }, { secret: { secretName: 's', defaultMode: 420 } }],
    ['host path', { hostPath: { path: '/x' } }, { hostPath: { path: '/x', type: '' } }],
    [
      'projected token',
      { projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
      {
        projected: {
          sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 3600 } }],
          defaultMode: 420,
        },
      },
    ],
  ];
  for (const [name, given, wanted] of cases) {
    const { spec } = examplePod({ spec: { volumes: [{ name: 'v', ...given }] } });
    assert.deepEqual(spec.volumes, [{ name: 'v', ...wanted }], name);
  }
});

test('defaultPod() keeps podIP and podIPs consistent', () => {
  const cases: readonly [object, string, readonly string[]][] = [
    [{ podIP: '10.1.0.1' }, '10.1.0.1', ['10.1.0.1']],
    [{ podIPs: [{ ip: '10.1.0.2' }, { ip: 'fd00::2' }] }, '10.1.0.2', ['10.1.0.2', 'fd00::2']],
    [{ podIP: '10.1.0.3', podIPs: [{ ip: '10.1.0.4' }] }, '10.1.0.3', ['10.1.0.3']],
  ];
  for (const [given, podIP, podIPs] of cases) {
    const { status } = examplePod({ status: given });
    assert.equal(status.podIP, podIP);
    assert.deepEqual(
      status.podIPs?.map(({ ip }) => ip),
      podIPs,
    );
  }
});

test('defaultPod() mirrors the service account and refuses negative grace', () => {
  const { spec } = examplePod({ spec: { serviceAccount: 'a', terminationGracePeriodSeconds: -1 } });
  assert.equal(spec.serviceAccountName, 'a');
  assert.equal(spec.terminationGracePeriodSeconds, 1);
});

test('preparePodCreate() adds only the tolerations that are missing', () => {
  const pod = preparePodCreate(examplePod({ spec: { tolerations: [{ operator: 'Exists' }] } }));
  assert.deepEqual(pod.spec.tolerations, [{ operator: 'Exists' }]);
});

test('defaultPod() rounds quantities up to thousandths', () => {
  const resources = { limits: { cpu: '100u' }, requests: { cpu: '1n' } };
  const { spec } = examplePod({
    spec: { containers: [{ name: 'c', image: 'i', resources }], overhead: { cpu: '1u' } },
  });
  assert.deepEqual(spec.containers?.[0]?.resources, {
    limits: { cpu: '1m' },
    requests: { cpu: '1m' },
  });
  assert.deepEqual(spec.overhead, { cpu: '1m' });
});
