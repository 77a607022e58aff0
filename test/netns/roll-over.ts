// `roll-over.js MODE ROUNDS`, in a lab: the endpoints of a Service go round while a client connects all the time.
import assert from 'node:assert/strict';
import { startCluster, startProxy } from './lab/cluster.ts';
import { makeBridge, type Pod, startPod } from './lab/network.ts';
import { endpointsOf, labService, labSlice } from './lab/objects.ts';

const [mode = 'nftables', rounds = '200'] = process.argv.slice(2);
const address = '10.96.0.50';

makeBridge();
const cluster = await startCluster();
const backends = await Promise.all(
  [11, 12, 13].map((last) => startPod(last, 'backend.js', [`b${last}`])),
);
const caller = await startPod(50, 'caller.js', [address, '80']);
const use = (...pods: readonly Pod[]): Promise<unknown> =>
  cluster.slices.patch(
    { namespace: 'default', name: 'web-1' },
    endpointsOf(
      'web',
      pods.map(({ ip }) => ip),
    ),
    { type: 'merge' },
  );
const nth = (n: number): Pod => backends[n % backends.length] as Pod;
const request = async (pod: Pod, word: string): Promise<string> => {
  pod.say(word);
  return pod.readLine();
};

await cluster.services.create(labService('web', address));
await cluster.slices.create(labSlice('web', [nth(0).ip]));
const proxy = startProxy(cluster.kubeconfig, mode);
await proxy.written();
assert.equal(await request(caller, 'hold'), 'b11');
await request(nth(1), 'stop');
await request(caller, 'begin');
for (let round = 0; round < Number(rounds); round += 1) {
  const [leaving, coming] = [nth(round), nth(round + 1)];
  await request(coming, 'start');
  const both = proxy.written();
  await use(leaving, coming);
  await both;
  const alone = proxy.written();
  await use(coming);
  await alone;
  await request(caller, 'pass');
  // What was on its way there arrives; from here on a connection to it would be refused, as by a pod that is gone.
  await request(leaving, 'stop');
}
const { answered, failures } = JSON.parse(await request(caller, 'report'));
assert.deepEqual(failures, []);
assert.ok(answered > Number(rounds), `only ${answered} connections were made`);
assert.equal(await request(caller, 'echo'), 'still here');
process.stdout.write(`${answered} connections, none failed\n`);
process.exit(0);
