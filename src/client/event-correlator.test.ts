import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEventCorrelator, type ReportedEvent } from './event-correlator.ts';

const event = (message: string, name = 'web'): ReportedEvent => ({
  object: { kind: 'Service', namespace: 'a', name, uid: name },
  type: 'Warning',
  reason: 'Failed',
  message,
});

test('decide() creates an Event once and then counts its repeats', () => {
  const correlator = createEventCorrelator();
  assert.deepEqual(correlator.decide(event('no'), 0), { action: 'create', message: 'no' });
  correlator.stored(event('no'), 'web.1', 0);
  assert.deepEqual(correlator.decide(event('no'), 1), {
    action: 'count',
    name: 'web.1',
    message: 'no',
    count: 2,
  });
  assert.deepEqual(correlator.decide(event('no'), 2), {
    action: 'count',
    name: 'web.1',
    message: 'no',
    count: 3,
  });
  assert.equal(correlator.decide(event('other'), 3).action, 'create');
  assert.equal(correlator.decide(event('no', 'api'), 3).action, 'create');
});

test('decide() counts the events of each field of an object', () => {
  const correlator = createEventCorrelator();
  const started = (container: string): ReportedEvent => {
    const { object, ...rest } = event('Container started', 'pod');
    return { ...rest, object: { ...object, fieldPath: `spec.containers{${container}}` } };
  };
  correlator.decide(started('app'), 0);
  correlator.stored(started('app'), 'pod.1', 0);
  assert.equal(correlator.decide(started('log'), 1).action, 'create');
  assert.equal(correlator.decide(started('app'), 2).action, 'count');
});

test('decide() creates a new Event after forget()', () => {
  const correlator = createEventCorrelator();
  correlator.decide(event('no'), 0);
  correlator.stored(event('no'), 'web.1', 0);
  correlator.forget(event('no'));
  assert.equal(correlator.decide(event('no'), 1).action, 'create');
});

test('decide() combines many messages of one reason', () => {
  const correlator = createEventCorrelator();
  for (let i = 0; i < 9; i += 1)
    assert.deepEqual(correlator.decide(event(`m${i}`), i), { action: 'create', message: `m${i}` });
  assert.deepEqual(correlator.decide(event('m9'), 9), {
    action: 'create',
    message: '(combined from similar events): m9',
  });
  correlator.stored(event('m9'), 'web.all', 9);
  assert.deepEqual(correlator.decide(event('m10'), 10), {
    action: 'count',
    name: 'web.all',
    message: '(combined from similar events): m10',
    count: 2,
  });
});

test('decide() allows a burst of events per object, then one in five minutes', () => {
  const correlator = createEventCorrelator();
  const actions = Array.from({ length: 27 }, () => correlator.decide(event('no'), 0).action);
  assert.deepEqual(actions.slice(24), ['create', 'drop', 'drop']);
  assert.equal(correlator.decide(event('no'), 299_999).action, 'drop');
  assert.equal(correlator.decide(event('no'), 300_001).action, 'create');
  assert.equal(correlator.decide(event('no', 'api'), 0).action, 'create');
});
