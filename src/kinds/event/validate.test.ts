import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { decode } from '../../schema/decode.ts';
import { type Event, eventSchema } from './types.ts';
import { validateEvent } from './validate.ts';
import { validateEventsV1Create, validateEventsV1Update } from './validate-events-v1.ts';

function event(fields: Readonly<Record<string, unknown>>, namespace = 'n'): Event {
  const raw = { metadata: { name: 'e', namespace }, ...fields };
  return decode(eventSchema, raw).object as unknown as Event;
}

const newStyle = {
  eventTime: '2026-01-02T03:04:05.000006Z',
  reportingComponent: 'example.com/c',
  reportingInstance: 'c-1',
  action: 'Act',
  reason: 'Because',
  type: 'Normal',
  message: 'hello',
  involvedObject: { kind: 'Pod', namespace: 'n', name: 'p' },
};

const elsewhere = (namespace: string) =>
  `involvedObject.namespace: Invalid value: "${namespace}": does not match event.namespace`;
const core: readonly [string, Event, readonly string[]][] = [
  ['an old one in its place', event({ involvedObject: { namespace: 'n' } }), []],
  ['an old one elsewhere', event({ involvedObject: { namespace: 'o' } }), [elsewhere('o')]],
  ['an old one without place', event({}), [elsewhere('')]],
  ['an old one in default', event({}, 'default'), []],
  ['a new one', event(newStyle), []],
  ['a new one about another place', event({ ...newStyle, involvedObject: { namespace: 'o' } }), []],
  ['a new one without place', event({ ...newStyle, involvedObject: {} }), [elsewhere('')]],
  [
    'a new one with gaps',
    event({ ...newStyle, reportingInstance: '', action: '', reason: 'x'.repeat(129) }),
    [
      'reportingInstance: Required value',
      'action: Required value',
      'reason: Invalid value: "": can have at most 128 characters',
    ],
  ],
];

for (const [name, object, want] of core) {
  test(`validateEvent() of ${name}`, () => {
    assert.deepEqual(validateEvent(object, 'core').map(errorText), want);
  });
}

test('validateEvent() names the controller as the API group does', () => {
  const bad = event({ ...newStyle, reportingComponent: '/c' });
  const fields = (style: 'core' | 'events.k8s.io') => validateEvent(bad, style)[0]?.field;
  assert.deepEqual(
    [fields('core'), fields('events.k8s.io')],
    ['reportingComponent', 'reportingController'],
  );
});

const creates: readonly [string, Event, readonly string[]][] = [
  ['a full one', event(newStyle), []],
  [
    'one of the old style',
    event({
      involvedObject: { namespace: 'n' },
      type: 'Odd',
      count: 1,
      firstTimestamp: '2026-01-02T03:04:05Z',
      source: { component: 'c' },
    }),
    [
      'eventTime: Required value',
      'type: Invalid value: "": has invalid value: Odd',
      'firstTimestamp: Invalid value: "": needs to be unset',
      'count: Invalid value: "": needs to be unset',
      'source: Invalid value: "": needs to be unset',
    ],
  ],
  [
    'a bad series',
    event({ ...newStyle, series: { count: 1 } }),
    [
      'series.count: Invalid value: "": should be at least 2',
      'series.lastObservedTime: Required value',
    ],
  ],
];

for (const [name, object, want] of creates) {
  test(`validateEventsV1Create() of ${name}`, () => {
    assert.deepEqual(validateEventsV1Create(object).map(errorText), want);
  });
}

test('validateEventsV1Update() accepts changes of the series only', () => {
  const before = event(newStyle);
  const series = { count: 2, lastObservedTime: '2026-01-02T03:05:05.000000Z' };
  assert.deepEqual(validateEventsV1Update(before, event({ ...newStyle, series })), []);
  const after = event({ ...newStyle, reason: 'Other', message: 'changed' });
  assert.deepEqual(validateEventsV1Update(before, after).map(errorText), [
    'reason: Invalid value: "Other": field is immutable',
    'message: Invalid value: "changed": field is immutable',
    'reason: Invalid value: "Other": field is immutable',
  ]);
});
