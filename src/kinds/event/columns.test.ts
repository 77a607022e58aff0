import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode } from '../../schema/decode.ts';
import { parseTime } from '../../schema/time.ts';
import { eventColumns } from './columns.ts';
import { eventDefinition } from './definition.ts';
import { eventsEventDefinition } from './events-definition.ts';
import { fromStoredEvent } from './events-v1.ts';
import { type Event, eventSchema } from './types.ts';

const now = parseTime('2026-01-02T03:05:05Z') ?? 0;
const old = {
  involvedObject: { kind: 'Pod', name: 'p', fieldPath: 'spec.x' },
  reason: 'R',
  type: 'Normal',
  message: ' m\n',
  source: { component: 'kubelet', host: 'n1' },
  firstTimestamp: '2026-01-02T03:04:05Z',
  lastTimestamp: '2026-01-02T03:05:00Z',
  count: 4,
};
const repeated = {
  involvedObject: { kind: 'Node' },
  eventTime: '2026-01-02T03:04:05.000000Z',
  series: { count: 7, lastObservedTime: '2026-01-02T03:05:03.000000Z' },
  reportingComponent: 'c',
};

const cases: readonly [string, unknown, readonly unknown[]][] = [
  ['old', old, ['5s', 'Normal', 'R', 'pod/p', 'spec.x', 'kubelet, n1', 'm', '60s', 4, 'e']],
  ['repeated', repeated, ['2s', '', '', 'node', '', 'c', '', '60s', 7, 'e']],
  ['bare', {}, ['<unknown>', '', '', '', '', '', '', '<unknown>', 1, 'e']],
];

for (const [name, fields, want] of cases) {
  const raw = { metadata: { name: 'e' }, ...(fields as object) };
  const event = decode(eventSchema, raw).object as unknown as Event;

  test(`the table shows an ${name} event`, () => {
    assert.deepEqual(
      eventColumns.map(({ cell }) => cell(event, now)),
      want,
    );
  });

  test(`the table of events.k8s.io shows the same for an ${name} event`, () => {
    const shown = fromStoredEvent(event);
    assert.deepEqual(
      eventsEventDefinition.columns.map(({ cell }) => cell(shown, now)),
      want,
    );
  });
}

test('events are selected by what they are about, under the name of the API group', () => {
  const event = decode(eventSchema, { metadata: { name: 'e' }, ...old }).object as unknown as Event;
  const select = eventDefinition.fieldSelectors;
  assert.equal(select?.['involvedObject.name']?.(event), 'p');
  assert.equal(select?.source?.(event), 'kubelet');
  const selectV1 = eventsEventDefinition.fieldSelectors;
  assert.equal(selectV1?.['regarding.kind']?.(fromStoredEvent(event)), 'Pod');
  assert.equal(selectV1?.['involvedObject.kind'], undefined);
});
