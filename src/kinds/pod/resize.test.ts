import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePod } from './example.ts';
import { preparePodResize, validatePodResize } from './resize.ts';
import type { Pod } from './types.ts';

const quantities = (cpu: string, memory: string) => ({
  requests: { cpu, memory },
  limits: { cpu: '2', memory: '2Gi' },
});
const app = { name: 'app', image: 'app:1', resources: quantities('100m', '64Mi') };
const side = { name: 'side', image: 'side:1', resources: quantities('50m', '32Mi') };
const before = examplePod({
  metadata: { labels: { app: 'web' }, generation: 3 },
  spec: { containers: [app, side] },
  status: { phase: 'Running', qosClass: 'Burstable' },
});

const podWith = (spec: object, of: Pod = before): Pod => ({
  ...examplePod({ metadata: of.metadata, spec }),
  status: of.status,
});

/** What a client gets to read, after what the server keeps. */
function problems(spec: object, of: Pod = before): readonly string[] {
  const after = preparePodResize(of, podWith(spec, of));
  return validatePodResize(of, after).map(({ field, detail }) => `${field}: ${detail}`);
}

test('a resize changes resources and resize policies only', () => {
  const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }];
  const sent = podWith({
    containers: [
      { ...app, image: 'app:2', resources: quantities('200m', '64Mi'), resizePolicy },
      side,
    ],
    nodeName: 'n',
  });
  const after = preparePodResize(before, {
    ...sent,
    metadata: { ...sent.metadata, labels: { app: 'other' } },
    status: { phase: 'Failed' },
  });
  assert.deepEqual(after.metadata, before.metadata);
  assert.deepEqual(after.status, before.status);
  const [first, ...others] = before.spec.containers ?? [];
  assert.deepEqual(after.spec, {
    ...before.spec,
    containers: [{ ...first, resources: quantities('200m', '64Mi'), resizePolicy }, ...others],
  });
});

const only = 'only cpu and memory resources are mutable';
const cases: readonly (readonly [string, object, readonly string[]])[] = [
  ['more of both', { containers: [{ ...app, resources: quantities('1', '1Gi') }, side] }, []],
  ['less of both', { containers: [{ ...app, resources: quantities('1m', '1Mi') }, side] }, []],
  ['nothing', { containers: [app, side] }, []],
  [
    'a limit below the request',
    { containers: [{ ...app, resources: quantities('3', '64Mi') }, side] },
    ['spec.containers[0].resources.requests: must be less than or equal to cpu limit of 2'],
  ],
  [
    'a removed request',
    {
      containers: [{ ...app, resources: { requests: { cpu: '1' }, limits: { cpu: '2' } } }, side],
    },
    [
      'spec.containers[0].resources.requests: resource requests cannot be removed',
      'spec.containers[0].resources.limits: resource limits cannot be removed',
    ],
  ],
  [
    'another resource',
    {
      containers: [
        {
          ...app,
          resources: {
            ...app.resources,
            limits: { cpu: '2', memory: '2Gi', 'ephemeral-storage': '1Gi' },
          },
        },
        side,
      ],
    },
    [`spec: ${only}`],
  ],
  [
    'another resize policy',
    {
      containers: [
        { ...app, resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }] },
        side,
      ],
    },
    [`spec: ${only}`],
  ],
  [
    'another class of service',
    {
      containers: [app, side].map((one) => ({
        ...one,
        resources: { requests: { cpu: '2', memory: '2Gi' }, limits: { cpu: '2', memory: '2Gi' } },
      })),
    },
    ['spec: Pod QOS Class may not change as a result of resizing'],
  ],
  [
    'another order',
    { containers: [side, app] },
    [0, 1].map(
      (index) =>
        `spec.containers[${index}].name: containers may not be renamed or reordered on resize`,
    ),
  ],
  [
    'one container less',
    { containers: [app] },
    ['spec.containers: containers may not be added or removed on resize'],
  ],
  [
    'amounts for the whole pod',
    { containers: [app, side], resources: { requests: { cpu: '1' }, limits: { cpu: '4' } } },
    [],
  ],
];

for (const [title, spec, expected] of cases) {
  test(`validatePodResize() of ${title}`, () => assert.deepEqual(problems(spec), expected));
}

test('pod-level resources may change but not be removed', () => {
  const resources = { requests: { cpu: '1' }, limits: { cpu: '4' } };
  const whole = examplePod({ spec: { containers: [app], resources } });
  const changed = { containers: [app], resources: { ...resources, requests: { cpu: '2' } } };
  assert.deepEqual(problems(changed, whole), []);
  assert.deepEqual(problems({ containers: [app] }, whole), [
    'spec.resources: pod-level resources cannot be removed',
  ]);
  const less = { requests: { cpu: '1' }, limits: { memory: '4Gi' } };
  assert.deepEqual(problems({ containers: [app], resources: less }, whole), [
    'spec.resources.limits: pod-level resource limits cannot be removed',
  ]);
});

test('an init container is resized, unless that would restart it', () => {
  const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }];
  const init = { name: 'init', image: 'i', resources: quantities('1m', '1Mi'), resizePolicy };
  const more = { ...init, resources: quantities('2m', '1Mi') };
  const of = (one: object) => examplePod({ spec: { containers: [app], initContainers: [one] } });
  assert.deepEqual(problems({ containers: [app], initContainers: [more] }, of(init)), [
    'spec.initContainers[0]: non-sidecar init containers with a resize policy of RestartContainer cannot be resized',
  ]);
  const always = { restartPolicy: 'Always' };
  const sidecar = { containers: [app], initContainers: [{ ...more, ...always }] };
  assert.deepEqual(problems(sidecar, of({ ...init, ...always })), []);
});

test('a running pod is resized if its node reports resources', () => {
  const running = (more: object): Pod => ({
    ...before,
    status: examplePod({
      status: {
        qosClass: 'Burstable',
        containerStatuses: [
          { name: 'app', state: { running: { startedAt: '2026-01-01T00:00:00Z' } }, ...more },
        ],
      },
    }).status,
  });
  const spec = { containers: [{ ...app, resources: quantities('1', '1Gi') }, side] };
  assert.deepEqual(problems(spec, running({})), [
    'spec: Pod running on node without support for resize',
  ]);
  assert.deepEqual(problems(spec, running({ resources: app.resources })), []);
});

test('static and Windows pods are not resized', () => {
  const annotations = { 'kubernetes.io/config.mirror': 'x' };
  const mirror = { ...before, metadata: { ...before.metadata, annotations } };
  assert.deepEqual(problems(before.spec, mirror), ['[]: static pods cannot be resized']);
  const windows = { ...before, spec: { ...before.spec, os: { name: 'windows' } } };
  assert.deepEqual(problems(before.spec, windows), ['[]: windows pods cannot be resized']);
});
