import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { examplePod } from './example.ts';
import { preparePodStatusUpdate, preparePodUpdate } from './prepare.ts';
import { validatePodStatusUpdate } from './validate-status.ts';

const family = 'may specify no more than one IP for each IP family';
const nodeClaims = 'status.nodeAllocatableResourceClaimStatuses';
const extended = 'status.extendedResourceClaimStatus';
const allocated = 'status.containerStatuses[0].allocatedResourcesStatus';
const noRequest =
  'must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests';
const cases: readonly [string, object, readonly string[]][] = [
  ['both families', { podIPs: [{ ip: 'fd00::1' }, { ip: '10.1.0.1' }] }, []],
  [
    'no address',
    { podIP: 'x' },
    [
      'status.podIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
  ],
  [
    'one family twice',
    { podIPs: [{ ip: '10.1.0.1' }, { ip: '10.1.0.2' }] },
    [`status.podIPs: Invalid value: [{"IP":"10.1.0.1"},{"IP":"10.1.0.2"}]: ${family}`],
  ],
  [
    'an address twice, as a family twice',
    { podIPs: [{ ip: '10.1.0.1' }, { ip: '10.1.0.1' }] },
    [`status.podIPs: Invalid value: [{"IP":"10.1.0.1"},{"IP":"10.1.0.1"}]: ${family}`],
  ],
  [
    'generations below zero',
    { observedGeneration: -1, conditions: [{ type: 'Ready', observedGeneration: -2 }] },
    [
      'status.conditions[0].observedGeneration: Invalid value: -2: must be a non-negative integer',
      'status.observedGeneration: Invalid value: -1: must be a non-negative integer',
    ],
  ],
  [
    'another class of quality',
    { qosClass: 'Guaranteed' },
    ['status.qosClass: Invalid value: "Guaranteed": field is immutable'],
  ],
  [
    'hostIPs without hostIP',
    { hostIPs: [{ ip: '10.0.0.1' }] },
    ['status.hostIPs[0].ip: Invalid value: "10.0.0.1": must be equal to `hostIP`'],
  ],
  [
    'claims that the pod does not have',
    {
      resourceClaimStatuses: [{ name: 'x', resourceClaimName: 'c' }, { name: 'x' }],
      nodeAllocatableResourceClaimStatuses: [
        { resourceClaimName: 'c', containers: ['a'], resources: { 'a.b/c': '-1' } },
        { resourceClaimName: 'd' },
      ],
    },
    [
      'status.resourceClaimStatuses[0].name: Invalid value: "x": must match the name of an entry in `spec.resourceClaims`',
      'status.resourceClaimStatuses[1].name: Invalid value: "x": must match the name of an entry in `spec.resourceClaims`',
      'status.resourceClaimStatuses[1].name: Duplicate value: "x"',
      `${nodeClaims}[0].resources[a.b/c]: Invalid value: "a.b/c": must be a node allocatable resource name`,
      `${nodeClaims}[0].resources[a.b/c]: Invalid value: "-1": must be non-negative`,
      `${nodeClaims}[1].resourceClaimName: Invalid value: "d": no mapping found in pod reference`,
      `${nodeClaims}[1].containers: Required value: must not be empty`,
      `${nodeClaims}[1].resources: Required value: must not be empty`,
    ],
  ],
  [
    'a claim behind extended resources',
    {
      extendedResourceClaimStatus: {
        requestMappings: [
          { containerName: 'x', resourceName: 'r', requestName: 'q' },
          { containerName: 'app', resourceName: 'r', requestName: 'q' },
          { containerName: 'app', resourceName: 'r', requestName: 'q' },
        ],
        resourceClaimName: '',
      },
    },
    [
      `${extended}.requestMappings[0].containerName: Invalid value: "x": must match the name of an entry in spec.initContainers.name or spec.containers.name`,
      `${extended}.requestMappings[1].resourceName: Invalid value: "r": ${noRequest}`,
      `${extended}.requestMappings[2].resourceName: Invalid value: "r": ${noRequest}`,
      `${extended}.requestMappings[2].containerName: Duplicate value: "app"`,
      `${extended}.requestMappings[2].resourceName: Duplicate value: "r"`,
      `${extended}.requestMappings[2].requestName: Duplicate value: "q"`,
      `${extended}.resourceClaimName: Required value`,
    ],
  ],
  [
    'users of containers',
    {
      containerStatuses: [
        { name: 'x', user: { linux: { uid: -1, gid: 0, supplementalGroups: [-2] } } },
      ],
    },
    [
      'status.containerStatuses[0].user.linux.uid: Invalid value: -1: must be between 0 and 2147483647, inclusive',
      'status.containerStatuses[0].user.linux.supplementalGroups[0]: Invalid value: -2: must be between 0 and 2147483647, inclusive',
    ],
  ],
  [
    'devices of containers',
    {
      containerStatuses: [
        {
          name: 'app',
          allocatedResourcesStatus: [
            {
              name: 'r',
              resources: [
                { resourceID: 'a', health: 'x', message: '' },
                { resourceID: 'a', health: 'Healthy', message: 'é'.repeat(513) },
              ],
            },
            { name: 'claim:c' },
          ],
        },
        { name: 'unknown', allocatedResourcesStatus: [{ name: 'r' }] },
      ],
      ephemeralContainerStatuses: [{ name: 'e', allocatedResourcesStatus: [{ name: 'r' }] }],
    },
    [
      `${allocated}[0].name: Invalid value: "r": must match one of the container's resource requests`,
      `${allocated}[0].resources[0].health: Unsupported value: "x": supported values: "Healthy", "Unhealthy", "Unknown"`,
      `${allocated}[0].resources[0].message: Required value: must be non-empty if specified`,
      `${allocated}[0].resources[1].message: Too long: may not be more than 1024 bytes`,
      `${allocated}[0].resources[1].resourceID: Duplicate value: "a"`,
      `${allocated}[1].name: Invalid value: "claim:c": must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty`,
      'status.ephemeralContainerStatuses[0].allocatedResourcesStatus: Forbidden: must not be specified in container status',
    ],
  ],
];

for (const [name, status, wanted] of cases) {
  test(`validatePodStatusUpdate() of: ${name}`, () => {
    const errors = validatePodStatusUpdate(examplePod(), examplePod({ status }));
    assert.deepEqual(errors.map(errorText), wanted);
  });
}

test('validatePodStatusUpdate() keeps a container terminated that is not restarted', () => {
  const spec = { restartPolicy: 'Never' };
  const of = (state: object) =>
    examplePod({ spec, status: { containerStatuses: [{ name: 'app', state }] } });
  const errors = validatePodStatusUpdate(of({ terminated: { exitCode: 1 } }), of({ running: {} }));
  assert.deepEqual(errors.map(errorText), [
    'status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state',
  ]);
});

test('validatePodStatusUpdate() reports the previous index, and follows container restart rules', () => {
  const rule = { action: 'Restart', exitCodes: { operator: 'In', values: [42] } };
  const containers = [
    { name: 'a', image: 'i' },
    { name: 'b', image: 'i', restartPolicy: 'Never', restartPolicyRules: [rule] },
  ];
  const ended = (name: string, exitCode: number) => ({ name, state: { terminated: { exitCode } } });
  const running = (name: string) => ({ name, state: { running: {} } });
  const of = (list: readonly object[]) =>
    examplePod({
      spec: { restartPolicy: 'Never', containers },
      status: { containerStatuses: list },
    });
  const run = (before: readonly object[]) =>
    validatePodStatusUpdate(of(before), of([running('b'), running('a')])).map(errorText);
  const detail = 'Forbidden: may not be transitioned to non-terminated state';
  assert.deepEqual(run([running('b'), ended('a', 1)]), [
    `status.containerStatuses[1].state: ${detail}`,
  ]);
  assert.deepEqual(run([ended('b', 42), running('a')]), []);
  assert.deepEqual(run([ended('b', 1)]), [`status.containerStatuses[0].state: ${detail}`]);
});

test('validatePodStatusUpdate() rejects nominatedNodeName for a scheduled pod', () => {
  const bound = examplePod({ spec: { nodeName: 'n' } });
  const nominated = examplePod({ spec: { nodeName: 'n' }, status: { nominatedNodeName: 'm' } });
  assert.deepEqual(validatePodStatusUpdate(bound, nominated).map(errorText), [
    'status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node',
  ]);
  assert.deepEqual(validatePodStatusUpdate(nominated, nominated), []);
});

test('preparePodStatusUpdate() accepts status and labels, not spec', () => {
  const before = examplePod({ spec: { nodeName: 'n' }, status: { qosClass: 'BestEffort' } });
  const sent = examplePod({ metadata: { labels: { a: 'b' } }, status: { phase: 'Running' } });
  const after = preparePodStatusUpdate(before, sent);
  assert.equal(after.spec.nodeName, 'n');
  assert.deepEqual(after.metadata.labels, { a: 'b' });
  assert.deepEqual(after.status, { phase: 'Running', qosClass: 'BestEffort' });
});

test('preparePodUpdate() leaves the status alone', () => {
  const before = examplePod({ status: { phase: 'Pending' } });
  const after = preparePodUpdate(before, examplePod({ status: { phase: 'Running' } }));
  assert.deepEqual(after.status, before.status);
});
