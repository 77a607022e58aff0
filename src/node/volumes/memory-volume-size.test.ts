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
  ['what the volume says', '1Mi', pod(undefined), 1024 ** 2],
  ['what all containers may use together', undefined, pod('4Mi', '8Mi'), 12 * 1024 ** 2],
  [
    'what the node has, where one container has no limit',
    undefined,
    pod('4Mi', undefined),
    2 ** 30,
  ],
  ['no more than its pod, whatever it says', '64Mi', pod('4Mi'), 4 * 1024 ** 2],
  ['no more than the node, whatever it says', '64Gi', pod(undefined), 2 ** 30],
];

for (const [name, sizeLimit, made, bytes] of cases) {
  test(`memoryVolumeBytes() is ${name}`, () => {
    assert.equal(memoryVolumeBytes(sizeLimit, made, node), bytes);
  });
}
