import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode } from '../../schema/decode.ts';
import { type EventsV1Event, eventsV1Schema, fromStoredEvent, toStoredEvent } from './events-v1.ts';
import { type Event, eventSchema } from './types.ts';

const time = '2026-01-02T03:04:05Z';
const microTime = '2026-01-02T03:04:05.000006Z';
const full = {
  kind: 'Event',
  apiVersion: 'v1',
  metadata: { name: 'e', namespace: 'n' },
  involvedObject: { kind: 'Pod', name: 'p' },
  reason: 'R',
  message: 'm',
  source: { component: 'c', host: 'h' },
  firstTimestamp: time,
  lastTimestamp: time,
  count: 3,
  type: 'Normal',
  eventTime: microTime,
  series: { count: 2, lastObservedTime: microTime },
  action: 'A',
  related: { kind: 'Node', name: 'n' },
  reportingComponent: 'example.com/c',
  reportingInstance: 'i',
};

for (const [name, raw] of [
  ['full', full],
  ['empty', { kind: 'Event', apiVersion: 'v1', metadata: { name: 'e' } }],
] as const) {
  const stored = decode(eventSchema, raw).object as unknown as Event;

  test(`a ${name} event is the same after both conversions`, () => {
    assert.equal(JSON.stringify(toStoredEvent(fromStoredEvent(stored))), JSON.stringify(stored));
  });

  test(`a converted ${name} event is in the canonical form of events.k8s.io`, () => {
    const shown = fromStoredEvent(stored);
    const canonical = decode(eventsV1Schema, shown).object as unknown as EventsV1Event;
    assert.equal(JSON.stringify(shown), JSON.stringify(canonical));
  });
}
