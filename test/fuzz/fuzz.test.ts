// Many seeded malformed requests: each gets a status below 500, and the server still works afterwards.
// FAIRLEAD_FUZZ_INPUTS says how many, FAIRLEAD_SEED which; corpus.json keeps what was ever found.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { measureMainThread } from '../hostile/measure-main-thread.ts';
import { maxStallCpuMs } from '../hostile/run-case.ts';
import { type MemoryServer, startMemoryServer } from '../parts/harness/memory-server.ts';
import { createRandom } from '../parts/harness/random.ts';
import { type Finding, findingOf, type Input, inputOf } from './input.ts';
import { fuzzNamespace, makeInput } from './make-input.ts';
import { mutateBytes } from './mutate.ts';
import { sendBytes, sendInput, toWire } from './send-input.ts';

const inputs = Number(process.env.FAIRLEAD_FUZZ_INPUTS ?? 3000);
const seed = Number(process.env.FAIRLEAD_SEED ?? 20_260_101);
/** Each round has a server of its own, so that what it holds stays small. */
const inputsPerRound = 500;
/** Every so many inputs one goes over the wire. */
const wireEvery = 20;
/** No answer takes a hundredth of it; what takes longer hangs. */
const hangMs = 20_000;
/** On which no machine listens. */
const closedPort = 1;
/** Heap that rounds may differ by: caches of compiled code and certificates, far less than a round's objects. */
const leakBytes = 48 * 1024 * 1024;

/** After so many the heap is as large as it gets: 50,000 inputs of a long run, one round of a short one. */
const settledRounds = inputs > 50_000 ? 100 : 1;
/** No request should keep the event loop to itself for longer; the client of this test counts in. */
const goalMs = 50;
const meter = measureMainThread();
const stall = { ms: 0, request: '', overGoal: 0 };

function noteStall(ms: number, request: string): void {
  if (ms > goalMs) stall.overGoal += 1;
  if (ms > stall.ms) Object.assign(stall, { ms, request });
}

const rejections: unknown[] = [];
const remember = (reason: unknown): void => void rejections.push(reason);
before(() => process.on('unhandledRejection', remember));
after(() => {
  meter.stop();
  process.off('unhandledRejection', remember);
});

test('answers the inputs of the corpus', { timeout: 120_000 }, async () => {
  const corpus = JSON.parse(
    readFileSync(join(process.cwd(), 'test', 'fuzz', 'corpus.json'), 'utf8'),
  ) as readonly Finding[];
  const server = await startRound();
  const findings: Finding[] = [];
  for (const finding of corpus) {
    const why = await judged(() => sendInput(server, inputOf(finding)), false);
    if (why !== undefined) findings.push({ ...finding, why });
  }
  await server.stop();
  assert.deepEqual(findings, []);
});

test(`answers ${inputs} malformed requests, and still works`, { timeout: 7_200_000 }, async (t) => {
  const rounds = Math.ceil(inputs / inputsPerRound);
  const findings: Finding[] = [];
  const heap: number[] = [];
  const statuses = new Map<number, number>();
  for (let round = 0; round < rounds; round++) {
    findings.push(...(await runRound(seed + round, statuses)));
    heap.push(heapAfterCollection());
  }
  assert.deepEqual(findings, [], `seed ${seed}`);
  assert.deepEqual(rejections, []);
  assertReachesFar(statuses);
  t.diagnostic(`longest stall: ${Math.round(stall.ms)} ms of CPU time, ${stall.request}`);
  t.diagnostic(`over ${goalMs} ms: ${stall.overGoal} of ${inputs}`);
  assert.ok(stall.ms < maxStallCpuMs, `${stall.request} took ${Math.round(stall.ms)} ms`);
  const grown = (heap.at(-1) ?? 0) - (heap[Math.min(settledRounds, heap.length - 1)] ?? 0);
  assert.ok(grown < leakBytes, `the heap grew by ${grown} bytes: ${heap.join(' ')}`);
});

async function runRound(
  roundSeed: number,
  statuses: Map<number, number>,
): Promise<readonly Finding[]> {
  const random = createRandom(roundSeed);
  const server = await startRound();
  const findings: Finding[] = [];
  const count = Math.min(inputs, inputsPerRound);
  for (let i = 0; i < count; i++) {
    const input = makeInput(random);
    const send = async (): Promise<number> => {
      const status = await sendInput(server, input);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      return status;
    };
    meter.maxMs();
    const why = await judged(send, input.path.includes('/proxy'));
    noteStall(meter.maxMs(), `${input.method} ${input.path.slice(0, 200)} (${roundSeed}, ${i})`);
    if (why !== undefined) findings.push(findingOf(`${why} (seed ${roundSeed}, ${i})`, input));
    if (i % wireEvery > 0) continue;
    const bytes = wireForm(random.below(4), input, (whole) => mutateBytes(random, whole));
    const wrong = await judged(() => sendBytes(server, bytes), bytes.includes('/proxy'));
    if (wrong !== undefined) {
      findings.push({ why: wrong, method: '', path: '', base64: bytes.toString('base64') });
    }
  }
  // Still alive, and still what it was.
  assert.equal((await server.api.send({ method: 'GET', path: '/readyz' })).status, 200);
  await server.api.get(`/api/v1/namespaces/kube-system`);
  await server.stop();
  return findings;
}

function wireForm(form: number, input: Input, mutate: (bytes: Buffer) => Uint8Array): Buffer {
  if (form === 0) return toWire(input, input.body.length + 100);
  return form === 1 ? Buffer.from(mutate(toWire(input))) : toWire(input);
}

async function startRound(): Promise<MemoryServer> {
  // An unreachable pod: the proxy must not send garbage to another program with its address.
  const dial = () => connect({ host: '127.0.0.1', port: closedPort });
  const server = await startMemoryServer({ access: { dial } });
  await server.api.post('/api/v1/namespaces', { metadata: { name: fuzzNamespace } });
  return server;
}

/** What is wrong with the answer, if anything. A proxy without a reachable backend is not a failure of the server. */
async function judged(
  send: () => Promise<number>,
  isProxied: boolean,
): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const hangs = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('hangs'), hangMs);
  });
  const started = performance.now();
  const answered = send().then(
    (status) => (status >= 500 && !(isProxied && status === 503) ? `status ${status}` : undefined),
    (error: unknown) => `throws ${error instanceof Error ? error.stack : String(error)}`,
  );
  const why = await Promise.race([answered, hangs]);
  clearTimeout(timer);
  return why ?? (performance.now() - started > hangMs ? 'blocks' : undefined);
}

/** A fuzzer whose requests all fail in the first step proves nothing. */
function assertReachesFar(statuses: ReadonlyMap<number, number>): void {
  for (const status of [200, 201, 400, 401, 403, 404, 405, 409, 415, 422]) {
    assert.ok((statuses.get(status) ?? 0) > 0, `no answer ${status} in ${[...statuses].join(' ')}`);
  }
}

function heapAfterCollection(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  return process.memoryUsage().heapUsed;
}
