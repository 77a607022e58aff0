// `crash.js MODE ROUNDS SEED OTHERS`, in a lab: the proxy is killed in the middle of its writes, again and again, while a client connects
// all the time. Beside it runs one that is never killed: after each restart both must have written the same rules.
// At the end another program throws all rules away.
import assert from 'node:assert/strict';
import { setTimeout as passed } from 'node:timers/promises';
import { createRandom } from '../../src/proxy/random-state.ts';
import { startCluster, startProxy } from './lab/cluster.ts';
import { makeBridge, nodeIP, startPod } from './lab/network.ts';
import { endpointsOf, labService, labSlice } from './lab/objects.ts';
import { differences, networkOf, rulesOf, thisNetwork, throwAway } from './lab/rules.ts';

const [mode = 'nftables', rounds = '50', seed = '1', otherServices = '60'] = process.argv.slice(2);
const address = '10.96.0.50';
/** Whose endpoints change all at once, so that a write takes a while. */
const others = Number(otherServices);
/** Each takes a connection: a slow machine cannot greet all of them in time. */
const changesAtOnce = 8;
const random = createRandom(Number(seed));

makeBridge();
const cluster = await startCluster();
const backend = await startPod(11, 'backend.js', ['b11']);
const caller = await startPod(50, 'caller.js', [address, '80']);
const beside = await startPod(60, 'caller.js', [nodeIP, '1']);
const name = (n: number): string => `other-${n}`;
const someIPs = (): readonly string[] =>
  Array.from({ length: 1 + random.below(5) }, () => `10.244.1.${100 + random.below(100)}`);
const change = (n: number): Promise<unknown> =>
  cluster.slices.patch(
    { namespace: 'default', name: `${name(n)}-1` },
    endpointsOf(name(n), [...new Set(someIPs())]),
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
  await cluster.services.create(labService(name(n), `10.96.1.${n + 1}`));
  await cluster.slices.create(labSlice(name(n), ['10.244.1.99']));
}
const reference = startProxy(cluster.kubeconfig, mode, { pid: beside.process.pid });
await reference.written();
let proxy = startProxy(cluster.kubeconfig, mode, { syncPeriod: '1s' });
await proxy.written();
caller.say('begin');
await caller.hear();

const assertSameRules = async (when: string): Promise<void> => {
  const found = await differences(
    () => rulesOf(mode, thisNetwork),
    () => rulesOf(mode, networkOf(beside)),
    // What waits to be removed goes with a later write.
    async () => {
      await change(random.below(others));
      await passed(200);
    },
  );
  assert.deepEqual(found, [], when);
};

for (let round = 0; round < Number(rounds); round += 1) {
  const written = proxy.written();
  const changes = changeAll();
  // At some moment of the storm: before, in the middle of, or after a write.
  if (random.percent(50)) await written;
  await passed(random.below(40));
  await proxy.kill();
  await changes;
  proxy = startProxy(cluster.kubeconfig, mode, { syncPeriod: '1s' });
  await proxy.written();
  await assertSameRules(`after restart ${round}`);
}
const report = async (): Promise<{ answered: number; failures: readonly string[] }> => {
  caller.say('report');
  return JSON.parse(await caller.hear());
};
const { answered, failures } = await report();
assert.deepEqual(failures, []);
assert.ok(answered > Number(rounds), `only ${answered} connections were made`);

// While nobody mends it the client must notice: this shows that it would have noticed before.
proxy.send('SIGSTOP');
await throwAway(mode);
while ((await report()).failures.length === 0) await passed(20);
const healed = proxy.written();
proxy.send('SIGCONT');
await healed;
await assertSameRules('after a flush by somebody else');
caller.say('hold');
assert.equal(await caller.hear(), 'b11');
process.stdout.write(`${answered} connections, none failed\n`);
process.exit(0);
