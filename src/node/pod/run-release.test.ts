import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failureAnswer, jsonAnswer, scriptedTransport } from '../../client/example.ts';
import type { TransportRequest, TransportResponse } from '../../client/transport.ts';
import { createFakeClock } from '../../host/fake-clock.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { silentLog } from '../../observe/log.ts';
import { createReleases } from './run-release.ts';

const pod = { metadata: { namespace: 'a', name: 'web' } } as Pod;
const never = new AbortController().signal;
const confirmed = jsonAnswer({ status: { confirmed: true } });
const hangs = new Promise<TransportResponse>(() => {});

function start(
  release: (request: TransportRequest) => TransportResponse | Promise<TransportResponse>,
  discovery = () => jsonAnswer({}),
) {
  const clock = createFakeClock();
  const transport = scriptedTransport((request) =>
    request.path.includes('/releases/') ? release(request) : discovery(),
  );
  const released = createReleases({
    ...{ caller: { transport, userAgent: 'test' }, clock, log: silentLog },
  });
  /** How long it takes in steps of half a second. */
  const waitMs = async (signal = never): Promise<number> => {
    const startedAt = clock.now();
    let isDone = false;
    void released(pod, signal).then(() => {
      isDone = true;
    });
    await clock.settle();
    while (!isDone) await clock.advance(500);
    return clock.now() - startedAt;
  };
  return { clock, transport, waitMs };
}

describe('createReleases()', () => {
  it('waits for the answer of the API server', async () => {
    const { transport, waitMs } = start(() => confirmed);
    assert.equal(await waitMs(), 0);
    const path = '/apis/parts.fairlead.dev/v1alpha1/namespaces/a/releases/web?timeoutSeconds=10';
    assert.equal(transport.requests[1]?.path, path);
  });

  it('waits ten seconds for an answer that does not come', async () => {
    const { waitMs } = start(() => hangs);
    assert.equal(await waitMs(), 10_000);
  });

  it('waits two seconds where the API server knows no proxies, and checks again later', async () => {
    const unknown = (): TransportResponse => failureAnswer(404, 'NotFound');
    const { clock, transport, waitMs } = start(() => confirmed, unknown);
    assert.equal(await waitMs(), 2000);
    assert.equal(await waitMs(), 2000);
    assert.equal(transport.requests.length, 1);
    await clock.advance(600_000);
    await waitMs();
    assert.equal(transport.requests.length, 2);
  });

  for (const [name, answer] of [
    ['takes no more questions', () => failureAnswer(429, 'TooManyRequests')],
    ['does not allow it', () => failureAnswer(403, 'Forbidden')],
    ['is gone', () => Promise.reject(new Error('connection refused'))],
  ] as const) {
    it(`waits two seconds when the API server ${name}`, async () => {
      assert.equal(await start(answer).waitMs(), 2000);
    });
  }

  it('does not wait for a pod that was deleted, nor after the signal', async () => {
    const { waitMs } = start(() => failureAnswer(404, 'NotFound'));
    assert.equal(await waitMs(), 0);
    const stopped = start(() => {
      throw new Error('aborted');
    });
    assert.equal(await stopped.waitMs(AbortSignal.abort()), 0);
  });
});
