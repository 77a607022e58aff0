import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTraceparent, parseTraceparent, traceIdOf } from './trace-context.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parent = '00f067aa0ba902b7';

const cases: Readonly<Record<string, boolean>> = {
  [`00-${traceId}-${parent}-01`]: true,
  [`cc-${traceId}-${parent}-00-more`]: true,
  [`00-${traceId}-${parent}-01-more`]: false,
  [`ff-${traceId}-${parent}-01`]: false,
  [`00-${'0'.repeat(32)}-${parent}-01`]: false,
  [`00-${traceId}-${'0'.repeat(16)}-01`]: false,
  [`00-${traceId.toUpperCase()}-${parent}-01`]: false,
  [`00-${traceId}-${parent}`]: false,
  '': false,
};

for (const [header, isValid] of Object.entries(cases)) {
  test(`parseTraceparent() ${isValid ? 'takes' : 'refuses'} "${header}"`, () => {
    assert.equal(parseTraceparent(header)?.traceId, isValid ? traceId : undefined);
  });
}

test('formatTraceparent() goes on with the trace under a number of its own', () => {
  const text = formatTraceparent({ traceId, flags: '01' });
  assert.match(text, new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
  assert.notEqual(text.slice(36, 52), parent);
  assert.deepEqual(parseTraceparent(text), { traceId, flags: '01' });
});

test('traceIdOf() is of the audit ID when the client has no trace', () => {
  assert.equal(traceIdOf(`00-${traceId}-${parent}-01`, 'a-b'), traceId);
  assert.equal(traceIdOf('nonsense', 'a-b'), 'ab');
  assert.equal(traceIdOf(undefined, 'a-b'), 'ab');
});
