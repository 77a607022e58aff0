import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../pod/types.ts';
import { exampleBackend, selectingService } from '../service/example-backends.ts';
import { triggerTime, withTriggerTime } from './trigger-time.ts';

const at = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`;
const service = selectingService({ metadata: { creationTimestamp: at(10) } });
const pod = (name: string, second?: number): Pod =>
  exampleBackend(name, {
    status: {
      conditions:
        second === undefined
          ? []
          : [{ type: 'Ready', status: 'True', lastTransitionTime: at(second) }],
    },
  });

test('triggerTime() of a new Service is its creation, whatever its pods’ times (EPC-11, EPS-24)', () => {
  assert.equal(triggerTime(undefined, service, [pod('a', 5), pod('b', 20)]).text, at(10));
});

test('triggerTime() is absent when no change has a time (EPC-11, EPS-24)', () => {
  const { state } = triggerTime(undefined, service, [pod('a', 5)]);
  assert.equal(triggerTime(state, service, [pod('a', 5)]).text, undefined);
  assert.equal(triggerTime(state, service, [pod('a', 5), pod('b')]).text, undefined);
  assert.equal(triggerTime(state, service, []).text, undefined);
});

test('triggerTime() is the earliest change since the previous sync (EPC-11, EPS-24)', () => {
  const { state } = triggerTime(undefined, service, [pod('a', 5), pod('b', 6)]);
  const next = triggerTime(state, service, [pod('a', 30), pod('b', 25), pod('c', 40)]);
  assert.equal(next.text, at(25));
  assert.equal(
    triggerTime(next.state, service, [pod('a', 30), pod('b', 25), pod('c', 41)]).text,
    at(41),
  );
});

test('triggerTime() uses the creation of a recreated Service (EPC-11, EPS-24)', () => {
  const { state } = triggerTime(undefined, service, []);
  const again = selectingService({ metadata: { creationTimestamp: at(50) } });
  assert.equal(triggerTime(state, again, []).text, at(50));
});

test('triggerTime() treats a recreated pod of the same name as new (EPC-11, EPS-24)', () => {
  const first = triggerTime(undefined, service, [pod('a', 5)]);
  const without = triggerTime(first.state, service, []);
  assert.equal(triggerTime(without.state, service, [pod('a', 5)]).text, at(5));
});

test('withTriggerTime() keeps other annotations and returns no empty map (EPC-11, EPS-24)', () => {
  const annotation = 'endpoints.kubernetes.io/last-change-trigger-time';
  assert.deepEqual(withTriggerTime({ a: 'b' }, at(1)), { a: 'b', [annotation]: at(1) });
  assert.deepEqual(withTriggerTime({ a: 'b', [annotation]: at(1) }, undefined), { a: 'b' });
  assert.equal(withTriggerTime({ [annotation]: at(1) }, undefined), undefined);
  assert.equal(withTriggerTime(undefined, undefined), undefined);
});
