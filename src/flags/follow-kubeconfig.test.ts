import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Connection, readConnection } from '../client/read-kubeconfig.ts';
import { createFakeClock } from '../host/fake-clock.ts';
import { silentLog } from '../observe/log.ts';
import { followKubeconfig } from './follow-kubeconfig.ts';

const kubeconfig = `
clusters: [{ name: c, cluster: { server: 'https://s:1' } }]
users: [{ name: u, user: { tokenFile: token } }]
contexts: [{ name: x, context: { cluster: c, user: u } }]
current-context: x
`;

test('followKubeconfig() uses a replaced token, and keeps the previous one while the file is missing', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'fairlead-follow-'));
  const path = join(directory, 'kubeconfig');
  const token = join(directory, 'token');
  const stop = new AbortController();
  try {
    await writeFile(path, kubeconfig);
    await writeFile(token, 'first\n');
    const clock = createFakeClock();
    const used: (string | undefined)[] = [];
    let notify = (): void => {};
    const use = (connection: Connection): void => {
      used.push(connection.token);
      notify();
    };
    const warned = new Promise<void>((resolve) => {
      notify = resolve;
    });
    const log = { ...silentLog, warn: () => notify() };
    const current = await readConnection([path]);
    const following = followKubeconfig(
      { read: () => readConnection([path]), current, use, clock, log },
      stop.signal,
    );
    await rm(token);
    await clock.advance(60_000);
    await warned;
    assert.deepEqual(used, []);
    const taken = new Promise<void>((resolve) => {
      notify = resolve;
    });
    await writeFile(token, 'second\n');
    // Its last look may still be under way, and sets the next one when it is done.
    while (clock.waiting() === 0) await clock.settle();
    await clock.advance(60_000);
    await taken;
    assert.deepEqual(used, ['second']);
    stop.abort();
    await following;
  } finally {
    stop.abort();
    await rm(directory, { recursive: true });
  }
});
