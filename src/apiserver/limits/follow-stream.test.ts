import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { createMetrics } from '../../observe/metrics.ts';
import { type ApiResponse, isStream, isTunnel, type Sink } from '../message.ts';
import { createRequestMetrics } from '../metrics.ts';
import { parseRequest } from '../request/request-info.ts';
import { followStream } from './follow-stream.ts';
import { createStreamCount } from './stream-count.ts';

const jane = { name: 'jane', groups: [] };

function start() {
  const watches = createStreamCount(1);
  const metrics = createRequestMetrics({ registry: createMetrics(), isServed: () => true });
  const route = metrics.of(
    parseRequest('GET', '/api/v1/pods', new URLSearchParams({ watch: 'true' })),
  );
  const follow = (body: ApiResponse['body']): ApiResponse['body'] =>
    followStream({ status: 200, headers: {}, body }, { route, trackWatch: watches.add, user: jane })
      .body;
  return { watches, route, follow };
}

test('followStream() counts a watch of its user until the client disconnects', () => {
  const { watches, route, follow } = start();
  const listeners: (() => void)[] = [];
  const sink: Sink = {
    write: () => {},
    buffered: () => 0,
    end: () => {},
    abort: () => {},
    onDrain: () => {},
    onClose: (listener) => listeners.push(listener),
  };
  const body = follow({ start: ({ write }) => write(Buffer.from('event')) });
  assert.ok(isStream(body));
  assert.equal(watches.hasRoom('jane'), true, 'not before it starts');
  body.start(sink);
  assert.equal(watches.hasRoom('jane'), false);
  assert.deepEqual([route.longRunning.value, route.watchEvents.value], [1, 1]);
  for (const listener of listeners) listener();
  assert.equal(watches.hasRoom('jane'), true);
  assert.equal(route.longRunning.value, 0);
});

test('followStream() does not count a tunnel as a watch', () => {
  const { watches, route, follow } = start();
  const client = new PassThrough();
  const body = follow({ tunnelTo: () => {} });
  assert.ok(isTunnel(body));
  body.tunnelTo(client);
  assert.equal(watches.hasRoom('jane'), true);
  assert.equal(route.longRunning.value, 1);
  client.emit('close');
  assert.equal(route.longRunning.value, 0);
});
