import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../kinds/pod/types.ts';
import { planPodGc } from './desired.ts';

type PodParts = {
  readonly nodeName?: string;
  readonly phase?: string;
  readonly going?: boolean;
  readonly made?: string;
};

const pod = (
  name: string,
  { nodeName, phase = 'Running', going = false, made }: PodParts = {},
): Pod => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: {
    name,
    uid: name,
    ...(going ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    ...(made === undefined ? {} : { creationTimestamp: made }),
  },
  spec: { containers: [], ...(nodeName === undefined ? {} : { nodeName }) },
  status: { phase },
});

const plan = (pods: readonly Pod[], missingSince: ReadonlyMap<string, number>, now: number) => {
  const {
    orphaned,
    others,
    missingSince: since,
  } = planPodGc({ pods, nodes: new Set(['here']), missingSince, maxFinished: 12_500, now });
  const names = (lost: readonly { pod: Pod }[]): readonly string[] =>
    lost.map((one) => one.pod.metadata.name ?? '');
  return {
    orphaned: [...orphaned].map(([node, lost]) => `${node}: ${names(lost)}`),
    others: names(others),
    since: [...since],
  };
};

test('planPodGc() deletes pods of a node that has been missing for 40 seconds', () => {
  const pods = [
    pod('a', { nodeName: 'here' }),
    pod('b', { nodeName: 'gone' }),
    pod('c', { nodeName: 'gone', going: true }),
  ];
  const first = plan(pods, new Map(), 1000);
  const since = [
    ['b', 1000],
    ['c', 1000],
  ];
  assert.deepEqual(first, { orphaned: [], others: [], since });
  assert.deepEqual(plan(pods, new Map(first.since), 40_999).orphaned, []);
  assert.deepEqual(plan(pods, new Map(first.since), 41_000).orphaned, ['gone: b,c']);
});

test('planPodGc() counts the quarantine for each pod', () => {
  const pods = [pod('old', { nodeName: 'gone' }), pod('new', { nodeName: 'gone' })];
  const { orphaned, since } = plan(pods, new Map([['old', 0]]), 100_000);
  assert.deepEqual(orphaned, ['gone: old']);
  assert.deepEqual(since, [
    ['old', 0],
    ['new', 100_000],
  ]);
});

test('planPodGc() resets the quarantine when the node exists again', () => {
  assert.deepEqual(plan([pod('a', { nodeName: 'here' })], new Map([['a', 0]]), 100_000), {
    orphaned: [],
    others: [],
    since: [],
  });
});

test('planPodGc() deletes unscheduled pods that are being deleted', () => {
  assert.deepEqual(plan([pod('a', { going: true }), pod('b')], new Map(), 0).others, ['a']);
});

test('planPodGc() deletes the oldest finished pods beyond the threshold', () => {
  const ended = Array.from({ length: 12_502 }, (_none, i) =>
    pod(`p${i}`, {
      nodeName: 'here',
      phase: 'Succeeded',
      made: `2026-01-01T00:00:00.${String(99_999 - i)}Z`,
    }),
  );
  assert.deepEqual(plan(ended, new Map(), 0).others, ['p12501', 'p12500']);
});
