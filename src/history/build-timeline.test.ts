import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EndpointSlice } from '../kinds/endpoint-slice/types.ts';
import { buildTimeline } from './build-timeline.ts';
import { durationText } from './duration-text.ts';
import { type ExampleEndpoint, exampleChanges, exampleService, exampleSlice } from './example.ts';
import type { History } from './history.ts';
import type { PastChange, PastState } from './past.ts';
import { renderTimeline } from './render-timeline.ts';
import { createTrimmer } from './trim-past.ts';

const service = exampleService();
const nothing: PastState = { slices: [], pods: [], nodes: [] };
const one: ExampleEndpoint = { address: '10.0.0.1', pod: 'web-1' };
const two: ExampleEndpoint = { address: '10.0.0.2', pod: 'web-2' };
const draining: ExampleEndpoint = { ...one, ready: false, serving: true, terminating: true };
const slice = (...endpoints: readonly ExampleEndpoint[]): EndpointSlice => exampleSlice(endpoints);

const timelineOf = (start: PastState, changes: readonly PastChange[], toMs = 60_000): History =>
  buildTimeline({ namespace: 'shop', name: 'web', fromMs: 0, toMs, start, changes, unread: [] });

const sentencesOf = ({ events }: History): readonly string[] =>
  events.map(({ sentence }) => sentence);
const start = { ...nothing, service, slices: [slice(one, two)] };
const update = (...states: readonly EndpointSlice[]): readonly PastChange[] =>
  exampleChanges(...states.map((one) => ['EndpointSlice', 'Updated', one] as const));

const sliceCases: readonly (readonly [
  title: string,
  readonly EndpointSlice[],
  readonly string[],
])[] = [
  ['says nothing of a slice that did not change', [slice(one, two)], []],
  [
    'follows an endpoint through its end',
    [slice(draining, two), slice({ ...draining, serving: false }, two), slice(two)],
    [
      'endpoint 10.0.0.1 (pod web-1, node a) is terminating, still serving',
      'endpoint 10.0.0.1 (pod web-1, node a) stopped serving',
      'endpoint 10.0.0.1 (pod web-1, node a) removed',
    ],
  ],
  [
    'takes an address that another pod has for another endpoint',
    [slice({ ...one, pod: 'web-9' }, two)],
    [
      'endpoint 10.0.0.1 (pod web-1, node a) removed',
      'endpoint 10.0.0.1 (pod web-9, node a) added, ready',
    ],
  ],
  [
    'says when only terminating endpoints answer, when none does, and when one does again',
    [slice(draining), slice(), slice(two)],
    [
      'endpoint 10.0.0.2 (pod web-2, node a) removed',
      'endpoint 10.0.0.1 (pod web-1, node a) is terminating, still serving',
      'last ready endpoint lost: only one that is terminating answers',
      'endpoint 10.0.0.1 (pod web-1, node a) removed',
      'last terminating endpoint lost: nothing answers',
      'endpoint 10.0.0.2 (pod web-2, node a) added, ready',
      'answers again, after 1 s without an endpoint',
    ],
  ],
  [
    'counts endpoints of a slice without ports as not ready',
    [exampleSlice([one, two], { ports: [] })],
    [
      'endpoint 10.0.0.1 (pod web-1, node a) became not ready',
      'endpoint 10.0.0.2 (pod web-2, node a) became not ready',
      'last ready endpoint lost: nothing answers',
    ],
  ],
  [
    'says nothing of an endpoint that moves to another slice',
    [exampleSlice([one], { name: 'web-y' }), slice(two)],
    [],
  ],
];

describe('buildTimeline()', () => {
  for (const [title, states, expected] of sliceCases) {
    it(title, () => {
      const trim = createTrimmer();
      const trimmed = states.map((state) => trim(state) as EndpointSlice);
      const first = start.slices.map((state) => trim(state) as EndpointSlice);
      assert.deepEqual(
        sentencesOf(timelineOf({ ...start, slices: first }, update(...trimmed))),
        expected,
      );
    });
  }
});

describe('buildTimeline() of outages', () => {
  it('does not count the time before the first endpoint as an outage', () => {
    const changes = exampleChanges(
      ['Service', 'Created', service],
      ['EndpointSlice', 'Created', slice()],
      ['EndpointSlice', 'Updated', slice(one)],
    );
    const { events, outages } = timelineOf(nothing, changes);
    assert.deepEqual(events.at(-1)?.type, 'FirstEndpointReady');
    assert.deepEqual(outages, []);
  });

  it('counts a Service that was deleted and created again as one outage', () => {
    const changes = exampleChanges(
      ['Service', 'Deleted', service],
      ['EndpointSlice', 'Deleted', slice(one, two)],
      ['Service', 'Created', service],
      ['EndpointSlice', 'Created', slice(one)],
    );
    const found = timelineOf(start, changes);
    assert.deepEqual(found.outages, [
      {
        ...{ began: '1970-01-01T00:00:01.000Z', ended: '1970-01-01T00:00:04.000Z' },
        ...{ milliseconds: 3000, cause: 'service-deleted' },
      },
    ]);
    assert.equal(sentencesOf(found).at(-1), 'answers again, 3 s after the Service was deleted');
    assert.equal(found.events[0]?.level, 'bad');
  });

  it('counts what was deleted for good as no outage, and what was down before only until then', () => {
    const deleted = ['Service', 'Deleted', service] as const;
    assert.deepEqual(timelineOf(start, exampleChanges(deleted)).outages, []);
    const down = exampleChanges(['EndpointSlice', 'Updated', slice()], deleted);
    assert.deepEqual(
      timelineOf(start, down).outages.map(({ milliseconds, cause }) => [milliseconds, cause]),
      [[1000, 'no-endpoints']],
    );
  });

  it('says that an outage began before, and that it lasts', () => {
    const { outages } = timelineOf({ ...nothing, service }, []);
    assert.deepEqual(outages, [{ milliseconds: 60_000, cause: 'no-endpoints' }]);
  });

  it('needs no endpoints for an ExternalName', () => {
    const external = exampleService({
      type: 'ExternalName',
      externalName: 'a.example',
      selector: {},
    });
    assert.deepEqual(timelineOf({ ...nothing, service: external }, []).outages, []);
  });
});

describe('buildTimeline() of what others wrote', () => {
  it('keeps the order of revisions when the clock is set back', () => {
    const [first, second] = update(slice(), slice(one));
    assert.ok(first !== undefined && second !== undefined);
    const found = timelineOf(start, [first, { ...second, timeMs: 0 }]);
    assert.equal(sentencesOf(found).at(-1), 'answers again, after 0 ms without an endpoint');
    assert.deepEqual(
      found.outages.map(({ milliseconds }) => milliseconds),
      [0],
    );
  });

  it('takes a slice that is given to another Service for removed', () => {
    const given = { ...slice(one, two), metadata: { name: 'web-x', labels: {} } };
    assert.equal(
      sentencesOf(timelineOf(start, update(given)))[0],
      'endpoint 10.0.0.1 (pod web-1, node a) removed',
    );
  });

  it('writes out what a terminal would obey', () => {
    const changed = exampleService({ externalName: '\u001b[2J' });
    const [event] = timelineOf(start, exampleChanges(['Service', 'Updated', changed])).events;
    assert.equal(event?.sentence, 'externalName set to \\x1b[2J');
  });

  it('replays 10,000 changes of a slice of 1,000 endpoints in a second or so', () => {
    const trim = createTrimmer();
    const many = Array.from({ length: 1000 }, (_none, at) => ({
      address: `10.0.${at >> 8}.${at & 255}`,
      pod: `p${at}`,
    }));
    const states = [0, 1].map(
      (odd) =>
        trim(
          slice(...many.map((endpoint, at) => ({ ...endpoint, ready: at !== odd }))),
        ) as EndpointSlice,
    );
    const changes = update(
      ...Array.from({ length: 10_000 }, (_none, at) => states[at % 2] as EndpointSlice),
    );
    const { events } = timelineOf({ ...start, slices: [] }, changes);
    assert.equal(events.length, 1000 + 1 + 2 * 9999);
  });
});

const plain = (text: string): string => text;
const paint = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain, cyan: plain };

describe('renderTimeline()', () => {
  const options = {
    paint,
    isVerbose: false,
    rows: 20,
    columns: 120,
    offsetMinutes: () => 0,
  };

  it('is a title, a line for each event, and a summary', () => {
    const found = timelineOf(start, update(slice(), slice(one)));
    assert.deepEqual(renderTimeline(found, options).split('\n'), [
      'Service shop/web from 1970-01-01 00:00:00 to 1970-01-01 00:01:00 (UTC)',
      '',
      '00:00:00.000  at first: ClusterIP; port 80/TCP; selector app=web; 2 of 2 endpoints ready',
      '00:00:01.000  endpoint 10.0.0.1 (pod web-1, node a) removed, and 1 more likewise, by alice with kubectl',
      '00:00:01.000  last ready endpoint lost: nothing answers',
      '00:00:02.000  endpoint 10.0.0.1 (pod web-1, node a) added, ready, by alice with kubectl',
      '00:00:02.000  answers again, after 1 s without an endpoint',
      '',
      '5 changes; 1 outage, 1 s in all; now 1 of 1 endpoint ready',
      '',
    ]);
  });

  it('leaves out what weighs least, and says how much', () => {
    const states = Array.from({ length: 200 }, (_none, at) =>
      slice(...(at % 2 === 0 ? [one] : [one, two])),
    );
    const text = renderTimeline(timelineOf(start, [...update(slice(), ...states)]), options);
    const lines = text.split('\n');
    assert.ok(lines.length <= options.rows, `${lines.length} lines`);
    assert.match(text, /last ready endpoint lost: nothing answers/);
    assert.match(text, /\n19\d lines of lesser weight not shown; -v shows all\n/);
    const all = renderTimeline(timelineOf(start, [...update(slice(), ...states)]), {
      ...options,
      isVerbose: true,
    });
    assert.ok(all.split('\n').length > 200);
  });

  it('names who made a change: people always, controllers on request', () => {
    const system = (change: PastChange): PastChange => ({
      ...change,
      user: 'system:serviceaccount:kube-system:endpointslice-controller',
    });
    const found = timelineOf(start, update(slice(one)).map(system));
    assert.match(renderTimeline(found, options), /removed\n/);
    const verbose = renderTimeline(found, { ...options, isVerbose: true });
    assert.match(verbose, /removed, by endpointslice-controller with kubectl\n/);
  });

  it('says which day it is when it changes', () => {
    const [change] = update(slice(one));
    assert.ok(change !== undefined);
    const text = renderTimeline(
      timelineOf(start, [{ ...change, timeMs: 100_000_000 }], 100_000_001),
      options,
    );
    assert.match(text, /\n1970-01-02\n03:46:40\.000 {2}endpoint /);
  });
});

describe('durationText()', () => {
  const cases: readonly (readonly [number, string])[] = [
    [0, '0 ms'],
    [999, '999 ms'],
    [1000, '1 s'],
    [12_345, '12.3 s'],
    [59_999, '59.9 s'],
    [60_000, '1 min'],
    [127_000, '2 min 7 s'],
    [3_600_000, '1 h'],
    [3_900_000, '1 h 5 min'],
  ];
  for (const [ms, text] of cases)
    it(`of ${ms} is ${text}`, () => assert.equal(durationText(ms), text));
});
