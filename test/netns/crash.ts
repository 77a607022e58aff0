// `crash.js MODE ROUNDS SEED OTHERS PORTS`, in a lab: the proxy is killed in the middle of its writes, again and again, while a client connects
// all the time. Beside it runs one that is never killed: after each restart both must have written the same rules.
// At the end another program throws all rules away.
import assert from 'node:assert/strict';
import { setTimeout as passed } from 'node:timers/promises';
import { createRandom } from '../../src/proxy/model/random-state.ts';
import { startCluster, startProxy } from './lab/cluster.ts';
import { makeBridge, nodeIP, startPod } from './lab/network.ts';
import { endpointsOf, labService, labSlice } from './lab/objects.ts';
import { differences, networkOf, rulesOf, thisNetwork, throwAway } from './lab/rules.ts';

const [mode = 'nftables', rounds = '50', seed = '1', otherServices = '60', portsOfEach = '1'] =
  process.argv.slice(2);
const address = '10.96.0.50';
/** Whose endpoints change all at once, so that a write takes a while. */
const others = Number(otherServices);
const ports = Number(portsOfEach);
/** Each takes a connection: a slow machine cannot greet all of them in time. */
const changesAtOnce = 8;
/** Who writes nothing for so long has nothing to write. */
const maxWriteMs = 10_000;
/** Under emulation one check takes a good part of a second. */
const syncPeriod = mode === 'ipvs' ? '10s' : '1s';
const random = createRandom(Number(seed));

makeBridge();
const cluster = await startCluster();
const backend = await startPod(11, 'backend.js', ['b11']);
const caller = await startPod(50, 'caller.js', [address, '80']);
const beside = await startPod(60, 'caller.js', [nodeIP, '1']);
const name = (n: number): string => `other-${n}`;
const versions = Array.from({ length: others }, () => 0);
/** Never the same twice in a row: every change is something to write. */
const someIPs = (n: number): readonly string[] => {
  versions[n] = 1 - (versions[n] ?? 0);
  const more = Array.from({ length: random.below(5) }, () => 102 + random.below(98));
  return [...new Set([100 + versions[n], ...more])].map((last) => `10.244.1.${last}`);
};
const change = (n: number): Promise<unknown> =>
  cluster.slices.patch(
    { namespace: 'default', name: `${name(n)}-1` },
    endpointsOf(name(n), someIPs(n)),
    { type: 'merge' },
  );

async function changeAll(): Promise<void> {
  const waiting = Array.from({ length: others }, (_, n) => n);
  const work = async (): Promise<void> => {
    for (let n = waiting.shift(); n !== undefined; n = waiting.shift()) await change(n);
  };
  await Promise.all(Array.from({ length: changesAtOnce }, work));
}

await cluster.services.create(labService('web', address));
await cluster.slices.create(labSlice('web', [backend.ip]));
for (let n = 0; n < others; n += 1) {
  await cluster.services.create(labService(name(n), `10.96.1.${n + 1}`, ports));
  await cluster.slices.create(labSlice(name(n), ['10.244.1.99'], ports));
}
const reference = startProxy(cluster.kubeconfig, mode, { pid: beside.process.pid });
await reference.written();
let proxy = startProxy(cluster.kubeconfig, mode, { syncPeriod });
await proxy.written();
caller.say('begin');
await caller.readLine();

const assertSameRules = async (when: string): Promise<void> => {
  const found = await differences(
    () => rulesOf(mode, thisNetwork),
    () => rulesOf(mode, networkOf(beside)),
    // One may be behind the other, and what waits to be removed goes with a later write.
    async () => {
      const written = Promise.all([proxy.written(), reference.written()]);
      await change(random.below(others));
      await Promise.race([written, passed(maxWriteMs)]);
      await passed(200);
    },
  );
  assert.deepEqual(found, [], when);
};

async function measureStorm(): Promise<number> {
  const startedAt = Date.now();
  await Promise.all([proxy.written(), changeAll()]);
  return Date.now() - startedAt;
}
// The first one waits for what a start brings with it.
await measureStorm();
const stormMs = await measureStorm();
for (let round = 0; round < Number(rounds); round += 1) {
  const changes = changeAll();
  // At some moment of the storm: before, in the middle of, or after a write.
  await passed(random.below(stormMs));
  await proxy.kill();
  proxy = startProxy(cluster.kubeconfig, mode, { syncPeriod });
  await Promise.all([proxy.written(), changes]);
  await assertSameRules(`after restart ${round}`);
}
const report = async (): Promise<{ answered: number; failures: readonly string[] }> => {
  caller.say('report');
  return JSON.parse(await caller.readLine());
};
const { answered, failures } = await report();
assert.deepEqual(failures, []);
assert.ok(answered > Number(rounds), `only ${answered} connections were made`);

// Without a repair the client must notice: this shows that it would have noticed before.
proxy.send('SIGSTOP');
await throwAway(mode);
while ((await report()).failures.length === 0) await passed(20);
const healed = proxy.written();
proxy.send('SIGCONT');
await healed;
await assertSameRules('after a flush by another program');
caller.say('hold');
assert.equal(await caller.readLine(), 'b11');
process.stdout.write(`${answered} connections, none failed\n`);
process.exit(0);
