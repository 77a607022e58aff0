import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleJob } from '../../kinds/job/example.ts';
import { expiresInMs } from './desired.ts';

const finished = '2026-01-01T00:00:00Z';
const now = Date.parse(finished) + 10_000;
const conditions = (type: string) => [
  { type, status: 'True', lastProbeTime: null, lastTransitionTime: finished },
];

for (const [what, job, expected] of [
  ['no time', exampleJob({ status: { conditions: conditions('Complete') } }), undefined],
  ['not finished', exampleJob({ spec: { ttlSecondsAfterFinished: 1 } }), undefined],
  [
    'time left',
    exampleJob({
      spec: { ttlSecondsAfterFinished: 30 },
      status: { conditions: conditions('Complete') },
    }),
    20_000,
  ],
  [
    'expired',
    exampleJob({
      spec: { ttlSecondsAfterFinished: 5 },
      status: { conditions: conditions('Failed') },
    }),
    0,
  ],
  [
    'being deleted',
    exampleJob({
      metadata: { deletionTimestamp: finished },
      spec: { ttlSecondsAfterFinished: 5 },
      status: { conditions: conditions('Failed') },
    }),
    undefined,
  ],
] as const) {
  test(`expiresInMs(): ${what}`, () => assert.equal(expiresInMs(job, now), expected));
}
