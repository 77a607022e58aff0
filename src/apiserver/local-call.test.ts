import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLocalCall, type LocalRequest } from './local-call.ts';
import type { ApiRequest, ApiResponse, Sink } from './message.ts';

const identity = { user: 'me', groups: ['us'] };

/** A server with one watch, whose sink the test holds. */
function streaming(): {
  readonly call: ReturnType<typeof createLocalCall>;
  readonly sink: () => Sink;
} {
  let held: Sink | undefined;
  const handle = async (): Promise<ApiResponse> => ({
    status: 200,
    headers: {},
    body: {
      start: (sink) => {
        held = sink;
      },
    },
  });
  const sink = (): Sink => {
    assert.ok(held, 'the stream has not started');
    return held;
  };
  return { call: createLocalCall(handle, identity), sink };
}

const watch: LocalRequest = { method: 'GET', path: '/api/v1/services?watch=true' };
const bytes = (text: string): Uint8Array => Buffer.from(text);
const text = (chunk: Uint8Array | undefined): string => Buffer.from(chunk ?? []).toString();

test('calls that answer at once leave the event loop its time', async () => {
  const call = createLocalCall(async () => ({ status: 200, headers: {}, body: '' }), identity);
  let isTimeUp = false;
  setTimeout(() => {
    isTimeUp = true;
  }, 1);
  // Without a yield, this would never end.
  while (!isTimeUp) await call({ method: 'GET', path: '/' });
});

test('a call comes in as a request of its identity', async () => {
  let seen: ApiRequest | undefined;
  const call = createLocalCall(async (request) => {
    seen = request;
    return { status: 201, headers: { a: 'b' }, body: 'answer' };
  }, identity);
  const { signal } = new AbortController();
  const response = await call({
    method: 'POST',
    path: '/a%20b?x=1&x=%3F?',
    headers: { accept: 'c' },
    body: 'body',
    signal,
  });
  assert.equal(seen?.method, 'POST');
  assert.equal(seen?.path, '/a%20b');
  assert.deepEqual(seen?.query.getAll('x'), ['1', '??']);
  assert.deepEqual(seen?.headers, { accept: 'c' });
  assert.equal(text(await seen?.body()), 'body');
  assert.deepEqual(seen?.peer, { local: identity });
  assert.equal(seen?.signal(), signal);
  assert.equal(response.status, 201);
  assert.deepEqual(response.headers, { a: 'b' });
  const chunks: string[] = [];
  for await (const chunk of response.body) chunks.push(text(chunk));
  assert.deepEqual(chunks, ['answer']);
});

test('a call without body, headers and query has empty ones', async () => {
  const call = createLocalCall(async ({ query, headers, body }) => {
    assert.equal((await body()).length, 0);
    assert.deepEqual(headers, {});
    return { status: 200, headers: {}, body: bytes(`[${query}]`) };
  }, identity);
  const { body } = await call({ method: 'GET', path: '/x' });
  for await (const chunk of body) assert.equal(text(chunk), '[]');
});

test('a stream hands over what is written, in order, and ends after the last', async () => {
  const { call, sink } = streaming();
  const { body } = await call(watch);
  const reader = body[Symbol.asyncIterator]();
  const first = reader.next();
  sink().write(bytes('one'));
  sink().write(bytes('two'));
  sink().end();
  sink().write(bytes('after the end'));
  assert.equal(text((await first).value), 'one');
  assert.equal(text((await reader.next()).value), 'two');
  assert.equal((await reader.next()).done, true);
});

test('a stream counts what its reader has not taken', async () => {
  const { call, sink } = streaming();
  const reader = (await call(watch)).body[Symbol.asyncIterator]();
  const first = reader.next();
  sink().write(bytes('1234'));
  await first;
  assert.equal(sink().buffered(), 0);
  sink().write(bytes('12'));
  sink().write(bytes('345'));
  assert.equal(sink().buffered(), 5);
  await reader.next();
  assert.equal(sink().buffered(), 3);
});

test('the end of the server closes once', async () => {
  const { call, sink } = streaming();
  const reader = (await call(watch)).body[Symbol.asyncIterator]();
  const first = reader.next();
  let closed = 0;
  sink().onClose(() => {
    closed += 1;
  });
  sink().end();
  sink().end();
  assert.equal((await first).done, true);
  assert.equal(closed, 1);
});

test('a reader that stops closes the sink', async () => {
  const { call, sink } = streaming();
  const { body } = await call(watch);
  let closed = 0;
  const reading = (async () => {
    for await (const _chunk of body) break;
  })();
  sink().onClose(() => {
    closed += 1;
  });
  sink().write(bytes('one'));
  await reading;
  assert.equal(closed, 1);
});

test('an aborted call closes the sink and ends the stream', async () => {
  const { call, sink } = streaming();
  const end = new AbortController();
  const reader = (await call({ ...watch, signal: end.signal })).body[Symbol.asyncIterator]();
  const first = reader.next();
  let closed = 0;
  sink().onClose(() => {
    closed += 1;
  });
  end.abort();
  assert.equal((await first).done, true);
  assert.equal(closed, 1);
});

test('a call that was aborted before it is read has a closed sink', async () => {
  const { call, sink } = streaming();
  const { body } = await call({ ...watch, signal: AbortSignal.abort() });
  for await (const _chunk of body) assert.fail('nothing was written');
  let closed = 0;
  sink().onClose(() => {
    closed += 1;
  });
  assert.equal(closed, 1, 'a late onClose listener is called at once');
});
