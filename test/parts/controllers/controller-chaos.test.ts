// Controllers are killed and restarted while objects change and requests fail. Afterwards the API server holds
// exactly the desired objects, and no write was without effect.
// FAIRLEAD_SEED repeats a run.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createLocalCall } from '../../../src/apiserver/local-call.ts';
import type {
  Transport,
  TransportRequest,
  TransportResponse,
} from '../../../src/client/transport.ts';
import { clusterIpRepair } from '../../../src/controllers/cluster-ip-repair/run.ts';
import { endpointSliceController } from '../../../src/controllers/endpoint-slice/run.ts';
import { endpointSliceMirroringController } from '../../../src/controllers/endpoint-slice-mirroring/run.ts';
import { endpointsController } from '../../../src/controllers/endpoints/run.ts';
import { garbageCollector } from '../../../src/controllers/garbage-collector/run.ts';
import { startControllers } from '../../../src/controllers/run.ts';
import { createFakeClock } from '../../../src/host/fake-clock.ts';
import { silentLog } from '../../../src/observe/log.ts';
import { createChurn } from '../harness/controller-churn.ts';
import { findDifferences } from '../harness/endpoint-checks.ts';
import { createFaultyTransport, type FaultyTransport } from '../harness/faulty-transport.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';
import { chooseSeed, createRandom } from '../harness/random.ts';

const steps = 600;
/** The controllers are killed in one of this many steps. */
const oneInKills = 40;
/** Small, so that a few pods fill several slices. */
const maxPerSlice = 4;
/** One second each; far more than any delay of a controller. */
const maxChecks = 3_000;

const seed = chooseSeed();
const clock = createFakeClock(Date.parse('2026-01-01T00:00:00Z'));
let server: MemoryServer;
let direct: Transport['send'];
before(async () => {
  server = await startMemoryServer({ clock });
  direct = createLocalCall(server.server.handle, { user: 'test', groups: ['system:masters'] });
});
after(() => server.stop());

type Generation = FaultyTransport & { readonly stop: () => Promise<void> };

test(`controllers converge after failures and restarts (seed ${seed})`, async () => {
  const random = createRandom(seed);
  const caller = { transport: { send: direct, close: () => Promise.resolve() }, userAgent: 'test' };
  const writes = createWriteCheck();
  const churn = await createChurn(caller, random);
  const start = (): Generation => startGeneration(writes.checked(direct), random);
  const ended: Promise<void>[] = [];
  let current = start();
  let faults = 0;
  for (let step = 0; step < steps; step += 1) {
    await churn.step();
    await clock.advance(random.below(4) * 15);
    if (random.below(oneInKills) > 0) continue;
    current.kill();
    faults += current.faults();
    ended.push(current.stop());
    current = start();
  }
  current.heal();
  const rest = (): Promise<readonly string[]> =>
    findDifferences({ caller, maxPerSlice, now: clock.now() });
  for (let check = 0; check < maxChecks && (await rest()).length > 0; check += 1) {
    await clock.advance(1000);
  }
  assert.deepEqual(await rest(), []);
  assert.ok(
    faults > 0 && ended.length > 0,
    'some requests failed and some controllers were killed',
  );
  const before = writes.count();
  await clock.advance(600_000);
  assert.equal(writes.count(), before, 'converged controllers write nothing');
  assert.deepEqual(writes.needless(), []);
  await Promise.all([...ended, current.stop()]);
});

function startGeneration(
  send: Transport['send'],
  random: ReturnType<typeof createRandom>,
): Generation {
  const faulty = createFaultyTransport(send, random);
  const stopping = new AbortController();
  const running = startControllers({
    transport: faulty.transport,
    controllers: [
      endpointsController,
      endpointSliceController,
      endpointSliceMirroringController,
      garbageCollector,
      clusterIpRepair,
    ],
    settings: { maxEndpointsPerSlice: maxPerSlice },
    log: silentLog,
    authorityCertificate: '',
    signal: stopping.signal,
    clock,
  });
  const stop = (): Promise<void> => {
    stopping.abort();
    return running;
  };
  return { ...faulty, stop };
}

/** Records every successful write of Endpoints, slices and IPAddresses, and whether it changed anything. */
function createWriteCheck() {
  const needless: string[] = [];
  let count = 0;
  const watched = /\/(endpoints|endpointslices|ipaddresses)(\/|\?|$)/;
  const note = async (
    request: TransportRequest,
    answer: TransportResponse,
  ): Promise<TransportResponse> => {
    const isWrite = request.method !== 'GET' && watched.test(request.path) && answer.status < 300;
    if (!isWrite) return answer;
    count += 1;
    if (request.method !== 'PUT') return answer;
    const chunks: Uint8Array[] = [];
    for await (const chunk of answer.body) chunks.push(chunk);
    const versionOf = (text: string): string | undefined =>
      (JSON.parse(text) as { metadata: { resourceVersion?: string } }).metadata.resourceVersion;
    const text = Buffer.concat(chunks).toString('utf8');
    // Only a change gets a new resource version.
    if (versionOf(text) === versionOf(String(request.body))) needless.push(`PUT ${request.path}`);
    return {
      ...answer,
      body: (async function* () {
        yield Buffer.from(text);
      })(),
    };
  };
  return {
    count: (): number => count,
    needless: (): readonly string[] => needless,
    checked:
      (send: Transport['send']): Transport['send'] =>
      async (request) =>
        note(request, await send(request)),
  };
}
