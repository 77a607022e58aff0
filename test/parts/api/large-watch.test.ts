// A watch that begins with more than a reader takes at once: the state comes as it is read, changes follow it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get } from 'node:https';
import { test } from 'node:test';
import { defaultLimits } from '../../../src/apiserver/limits/limits.ts';
import { startMemoryServer, testCredentials } from '../harness/memory-server.ts';

const path = '/api/v1/namespaces/default/configmaps';
const objects = 400;
/** Twelve megabytes in all, against four that a connection may leave unread. */
const text = 'x'.repeat(30_000);

type Event = {
  readonly type: string;
  readonly object: { readonly metadata: Record<string, unknown>; readonly data?: { n?: string } };
};

test('a state far larger than what may wait unread arrives whole, then the changes made meanwhile', async () => {
  const limits = { ...defaultLimits, maxUnreadBytesPerConnection: 4 << 20 };
  const running = await startMemoryServer({ access: { limits } });
  try {
    const { api, server } = running;
    for (let n = 0; n < objects; n += 1) {
      await api.post(path, { metadata: { name: `c${n}` }, data: { n: 'first', text } });
    }
    const { privateKey: key, certificate } = testCredentials().administrator;
    const request = get({
      ...{ host: 'localhost', port: server.address.port, key, cert: certificate },
      ca: testCredentials().authority.certificate,
      path: `${path}?watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
    });
    const [response] = await once(request, 'response');
    // The client does not read yet: the server must wait, without filling its memory or giving up.
    await api.patch(`${path}/c0`, { data: { n: 'second' } });
    const events = await readUntil(
      response,
      ({ type, object }) => type === 'MODIFIED' && object.data?.n === 'second',
    );
    request.destroy();
    const added = events.filter(({ type }) => type === 'ADDED');
    assert.equal(new Set(added.map(({ object }) => object.metadata.name)).size, objects);
    assert.deepEqual(
      events.slice(objects).map(({ type }) => type),
      ['BOOKMARK', 'MODIFIED'],
    );
  } finally {
    await running.stop();
  }
});

async function readUntil(
  lines: AsyncIterable<Buffer>,
  isLast: (event: Event) => boolean,
): Promise<readonly Event[]> {
  const events: Event[] = [];
  let rest = '';
  for await (const chunk of lines) {
    const pieces = (rest + chunk.toString()).split('\n');
    rest = pieces.pop() ?? '';
    for (const piece of pieces) events.push(JSON.parse(piece) as Event);
    if (events.some(isLast)) return events;
  }
  throw new Error(`the watch ended after ${events.length} events`);
}
