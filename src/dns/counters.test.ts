import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answeredBy, createCounters, makeCounterMemory, readCounters } from './counters.ts';
import type { Handler } from './question.ts';
import { rcodes } from './wire/record-types.ts';

test('response() counts under the handler that answered', () => {
  const memory = makeCounterMemory();
  const counters = createCounters(memory);
  for (const by of answeredBy)
    counters.response(rcodes.NOERROR, by, 100, { isTcp: false, isIPv6: false });
  const read = readCounters(memory);
  assert.deepEqual(
    answeredBy.map((_, index) => read.responses(index, rcodes.NOERROR)),
    answeredBy.map(() => 1),
  );
});

test('a handler without a counter does not compile', () => {
  // @ts-expect-error Its responses would be counted as rejected before the chain.
  const handler: Handler = { name: 'hosts', answer: () => undefined };
  assert.equal(
    answeredBy.some((name) => name === handler.name),
    false,
  );
});
