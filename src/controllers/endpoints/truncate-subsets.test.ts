import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndpointSubset } from '../../kinds/endpoints/types.ts';
import { truncateSubsets } from './truncate-subsets.ts';

const addresses = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ ip: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}` }));

/** Numbers of ready and not ready addresses of each subset; 0 for an absent list. */
type Sizes = readonly [ready: number, notReady: number];

const subset = ([ready, notReady]: Sizes): EndpointSubset => ({
  ...(ready === 0 ? {} : { addresses: addresses(ready) }),
  ...(notReady === 0 ? {} : { notReadyAddresses: addresses(notReady) }),
});
const sizes = (one: EndpointSubset): Sizes => [
  one.addresses?.length ?? 0,
  one.notReadyAddresses?.length ?? 0,
];

type Case = {
  readonly title: string;
  readonly given: readonly Sizes[];
  readonly left: readonly Sizes[];
  readonly cut: boolean;
};

const cases: readonly Case[] = [
  {
    title: 'leaves 1000 addresses alone',
    given: [
      [600, 0],
      [300, 100],
    ],
    left: [
      [600, 0],
      [300, 100],
    ],
    cut: false,
  },
  { title: 'cuts ready addresses to 1000', given: [[1001, 0]], left: [[1000, 0]], cut: true },
  {
    title: 'drops all that are not ready when ready ones exceed the limit',
    given: [[1500, 20]],
    left: [[1000, 0]],
    cut: true,
  },
  {
    title: 'cuts only those that are not ready when the ready ones fit',
    given: [[800, 400]],
    left: [[800, 200]],
    cut: true,
  },
  {
    title: 'cuts in proportion',
    given: [
      [1500, 0],
      [500, 0],
    ],
    left: [
      [750, 0],
      [250, 0],
    ],
    cut: true,
  },
  {
    title: 'gives the last subset the rest of the rounding',
    given: [
      [700, 0],
      [700, 0],
      [700, 0],
    ],
    left: [
      [334, 0],
      [334, 0],
      [332, 0],
    ],
    cut: true,
  },
  {
    title: 'drops subsets without addresses',
    given: [
      [1100, 0],
      [0, 5],
    ],
    left: [[1000, 0]],
    cut: true,
  },
];

for (const { title, given, left, cut } of cases) {
  test(`truncateSubsets() ${title} (EPC-09)`, () => {
    const { subsets, isTruncated } = truncateSubsets(given.map(subset));
    assert.deepEqual(subsets.map(sizes), left);
    assert.equal(isTruncated, cut);
  });
}
