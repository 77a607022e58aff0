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
  ['nothing for an equal status', base, base, undefined],
  ['nothing for fields of other writers', { ...base, nominatedNodeName: 'n' }, base, undefined],
  ['only fields that differ', base, { ...base, phase: 'Failed' }, { phase: 'Failed' }],
  [
    'only conditions that differ',
    { ...base, conditions: [ready('True'), { ...ready('True'), type: 'gate' }] },
    { ...base, conditions: [ready('False')] },
    { conditions: [ready('False')] },
  ],
  [
    'null for fields that a condition no longer has',
    { ...base, conditions: [{ ...ready('False'), reason: 'ContainersNotReady', message: 'm' }] },
    base,
    { conditions: [{ ...ready('True'), reason: null, message: null }] },
  ],
  [
    'the removal of PodResizeInProgress',
    { ...base, conditions: [ready('True'), { ...ready('True'), type: 'PodResizeInProgress' }] },
    base,
    { conditions: [{ type: 'PodResizeInProgress', $patch: 'delete' }] },
  ],
  [
    'null for a field that is no longer set',
    { ...base, reason: 'Evicted' },
    base,
    { reason: null },
  ],
  [
    'lists of addresses as a whole',
    { ...base, podIPs: [{ ip: '10.0.0.1' }] },
    { ...base, podIPs: [{ ip: '10.0.0.2' }] },
    { podIPs: [{ ip: '10.0.0.2' }, { $patch: 'replace' }] },
  ],
];
for (const [name, before, after, expected] of cases) {
  test(`statusPatch() sends ${name}`, () => assert.deepEqual(statusPatch(before, after), expected));
}
