import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../kinds/pod/types.ts';
import { memoryVolumeBytes } from './memory-volume-size.ts';

const pod = (...limits: readonly (string | undefined)[]): Pick<Pod, 'spec'> =>
  ({
    spec: {
      containers: limits.map((memory, at) => ({
        name: `c${at}`,
        resources: memory === undefined ? {} : { limits: { memory } },
      })),
    },
  }) as unknown as Pod;

const node = { memory: '1Gi' };
const cases: readonly (readonly [string, string | undefined, Pick<Pod, 'spec'>, number])[] = [
  ['its sizeLimit', '1Mi', pod(undefined), 1024 ** 2],
  ['the sum of the memory limits', undefined, pod('4Mi', '8Mi'), 12 * 1024 ** 2],
  ['the memory of the node if a container has no limit', undefined, pod('4Mi', undefined), 2 ** 30],
  ['at most the memory limit of the pod', '64Mi', pod('4Mi'), 4 * 1024 ** 2],
  ['at most the memory of the node', '64Gi', pod(undefined), 2 ** 30],
];

for (const [name, sizeLimit, podSpec, bytes] of cases) {
  test(`memoryVolumeBytes() is ${name}`, () => {
    assert.equal(memoryVolumeBytes(sizeLimit, podSpec, node), bytes);
  });
}
