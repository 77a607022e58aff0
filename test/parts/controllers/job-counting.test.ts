// Each pod of a job is counted once, whatever becomes of the controller: it is killed between any two requests, and answers get lost.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLocalCall } from '../../../src/apiserver/local-call.ts';
import type { Transport } from '../../../src/client/transport.ts';
import { jobController } from '../../../src/controllers/job/run.ts';
import { startControllers } from '../../../src/controllers/run.ts';
import { createFakeClock, type FakeClock } from '../../../src/host/fake-clock.ts';
import type { Job } from '../../../src/kinds/job/types.ts';
import type { Pod } from '../../../src/kinds/pod/types.ts';
import { silentLog } from '../../../src/observe/log.ts';
import type { ApiClient, ObjectList } from '../harness/api-client.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';
import { chooseSeed, createRandom, type Random } from '../harness/random.ts';

const completions = 40;
const jobs = '/apis/batch/v1/namespaces/default/jobs';
const pods = '/api/v1/namespaces/default/pods';
const maxRounds = 2000;

type Life = { readonly signal: AbortSignal; readonly end: () => Promise<void> };

/** A controller that dies at one of its next writes: before it is carried out, or before its answer arrives. */
function startLife({ server }: MemoryServer, clock: FakeClock, random: Random): Life {
  const stopping = new AbortController();
  const { signal } = stopping;
  const send = createLocalCall(server.handle, {
    user: 'system:kube-controller-manager',
    groups: ['system:masters'],
  });
  let left = 5 + random.below(50);
  const dying: Transport['send'] = async (request) => {
    if (signal.aborted) throw new Error('killed');
    if (request.method !== 'GET') left -= 1;
    if (left > 0) return send(request);
    stopping.abort();
    if (random.below(2) === 0) await send(request);
    throw new Error('killed');
  };
  const running = startControllers({
    transport: { send: dying, close: () => Promise.resolve() },
    log: silentLog,
    authorityCertificate: 'CERTIFICATE',
    signal,
    clock,
    controllers: [jobController],
  });
  return {
    signal,
    async end() {
      stopping.abort();
      await running;
    },
  };
}

type Tally = { succeeded: number; failed: number; readonly ended: Set<string> };

/** Plays the kubelet: one pod in ten fails. */
async function endPods(api: ApiClient, random: Random, tally: Tally): Promise<void> {
  const { items } = await api.get<ObjectList<Pod>>(pods);
  for (const { metadata, status } of items) {
    const { uid = '', name, deletionTimestamp } = metadata;
    if (status.phase !== 'Pending' || deletionTimestamp !== undefined) continue;
    if (tally.ended.has(uid)) continue;
    tally.ended.add(uid);
    const phase = random.below(10) > 0 ? 'Succeeded' : 'Failed';
    if (phase === 'Succeeded') tally.succeeded += 1;
    else tally.failed += 1;
    await api.patch(`${pods}/${name}/status`, { status: { phase } });
  }
}

/** Returns how often the controller was started. */
async function runToTheEnd(world: MemoryServer, clock: FakeClock, random: Random, tally: Tally) {
  let life = startLife(world, clock, random);
  let lives = 1;
  for (let round = 0; round < maxRounds; round += 1) {
    if (life.signal.aborted) {
      await life.end();
      life = startLife(world, clock, random);
      lives += 1;
    }
    await endPods(world.api, random, tally);
    const { status } = await world.api.get<Job>(`${jobs}/count`);
    if (status.conditions?.some(({ type }) => type === 'Complete')) break;
    await clock.advance(100 + random.below(3000));
  }
  await life.end();
  return lives;
}

for (const completionMode of ['NonIndexed', 'Indexed']) {
  test(`no pod of a job is lost or counted twice: ${completionMode}`, async (t) => {
    const seed = chooseSeed();
    t.diagnostic(`FAIRLEAD_SEED=${seed}`);
    const random = createRandom(seed);
    const clock = createFakeClock(Date.parse('2026-01-01T00:00:00Z'));
    const world = await startMemoryServer({ clock });
    const { api } = world;
    const tally: Tally = { succeeded: 0, failed: 0, ended: new Set() };
    try {
      const template = {
        spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
      };
      await api.post(jobs, {
        metadata: { name: 'count' },
        spec: { completions, parallelism: 7, completionMode, backoffLimit: 1000, template },
      });
      const lives = await runToTheEnd(world, clock, random, tally);
      assert.ok(lives > 1, 'the controller did not die');
      const { status } = await api.get<Job>(`${jobs}/count`);
      assert.deepEqual(status.uncountedTerminatedPods, {});
      assert.deepEqual([status.succeeded, status.failed ?? 0], [completions, tally.failed]);
      assert.equal(tally.succeeded, completions);
      const { items } = await api.get<ObjectList<Pod>>(pods);
      assert.ok(items.every(({ metadata }) => metadata.finalizers === undefined));
    } finally {
      await world.stop();
    }
  });
}
