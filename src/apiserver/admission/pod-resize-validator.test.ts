import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podDefinition } from '../../kinds/pod/definition.ts';
import { examplePod } from '../../kinds/pod/example.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { KubeObject } from '../../meta/object.ts';
import { outcomeOf } from './example.ts';
import { podResizeValidator } from './pod-resize-validator.ts';

const node = (more: { readonly os?: string; readonly allocatable?: object }): KubeObject =>
  ({
    kind: 'Node',
    apiVersion: 'v1',
    metadata: {
      name: 'n',
      ...(more.os === undefined ? {} : { labels: { 'kubernetes.io/os': more.os } }),
    },
    status: more.allocatable === undefined ? {} : { allocatable: more.allocatable },
  }) as KubeObject;

const podOf = (cpu: string, memory: string, nodeName = 'n'): Pod =>
  examplePod({
    spec: {
      ...(nodeName === '' ? {} : { nodeName }),
      containers: ['a', 'b'].map((name) => ({
        name,
        image: 'i',
        resources: { requests: { cpu, memory } },
      })),
    },
  });

/** The refusal, or undefined. */
function refusal(
  [before, after]: readonly [Pod, Pod],
  objects: readonly KubeObject[],
  subresource = 'resize',
): string | undefined {
  const write = { definition: podDefinition, operation: 'update', subresource } as const;
  const outcome = outcomeOf(podResizeValidator, { ...write, before, after, objects });
  return typeof outcome === 'string' ? outcome : undefined;
}

const small = node({ os: 'linux', allocatable: { cpu: '2', memory: '1Gi' } });
const start = podOf('100m', '64Mi');
const grown = podOf('1500m', '768Mi');

test('a pod grows as far as its node has room for it alone', () => {
  assert.equal(refusal([start, podOf('1', '512Mi')], [small]), undefined);
  assert.equal(
    refusal([start, grown], [small]),
    `pods "web" is forbidden: node didn't have enough allocatable resources: cpu, requested: 3000, allocatable: 2000; memory, requested: ${1536 * 2 ** 20}, allocatable: ${2 ** 30}`,
  );
  assert.equal(refusal([start, grown], [node({})]), undefined);
});

test('a pod grows on nodes of Linux that are there', () => {
  assert.equal(refusal([start, grown], []), 'pods "web" is forbidden: node "n" not found');
  assert.equal(
    refusal([start, grown], [node({ os: 'windows' })]),
    'pods "web" is forbidden: pod resize is only supported on linux nodes, node "n" is "windows"',
  );
});

test('other writes, pods without a node and amounts that stay are none of its business', () => {
  assert.equal(refusal([start, grown], [], ''), undefined);
  assert.equal(refusal([start, start], []), undefined);
  assert.equal(refusal([podOf('1', '1', ''), podOf('9', '9', '')], []), undefined);
});
