import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodStatus } from '../../kinds/pod/pod-status.ts';
import { statusPatch } from './status-patch.ts';

const ready = (status: string) => ({
  type: 'Ready',
  status,
  lastProbeTime: null,
  lastTransitionTime: null,
});
const base: PodStatus = { phase: 'Running', qosClass: 'BestEffort', conditions: [ready('True')] };

const cases: readonly (readonly [string, PodStatus, PodStatus, unknown])[] = [
  ['nothing for the same', base, base, undefined],
  ['nothing for what others write', { ...base, nominatedNodeName: 'n' }, base, undefined],
  ['only what differs', base, { ...base, phase: 'Failed' }, { phase: 'Failed' }],
  [
    'only conditions that differ',
    { ...base, conditions: [ready('True'), { ...ready('True'), type: 'gate' }] },
    { ...base, conditions: [ready('False')] },
    { conditions: [ready('False')] },
  ],
  [
    'null for what a condition no longer says',
    { ...base, conditions: [{ ...ready('False'), reason: 'ContainersNotReady', message: 'm' }] },
    base,
    { conditions: [{ ...ready('True'), reason: null, message: null }] },
  ],
  [
    'that a resize is over',
    { ...base, conditions: [ready('True'), { ...ready('True'), type: 'PodResizeInProgress' }] },
    base,
    { conditions: [{ type: 'PodResizeInProgress', $patch: 'delete' }] },
  ],
  ['null for what is no longer so', { ...base, reason: 'Evicted' }, base, { reason: null }],
  [
    'addresses as a whole',
    { ...base, podIPs: [{ ip: '10.0.0.1' }] },
    { ...base, podIPs: [{ ip: '10.0.0.2' }] },
    { podIPs: [{ ip: '10.0.0.2' }, { $patch: 'replace' }] },
  ],
];
for (const [name, before, after, expected] of cases) {
  test(`statusPatch() sends ${name}`, () => assert.deepEqual(statusPatch(before, after), expected));
}
