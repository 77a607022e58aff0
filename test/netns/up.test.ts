// `fairlead up` as people use it: the examples in an isolated network, seen from pods and from the machine, as root and as an ordinary user.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { leftOf } from '../lanes/process-traces.ts';
import {
  ask,
  endWith,
  type Identity,
  machineNetwork,
  makeDirectory,
  removeDirectory,
  startUp,
  type Up,
  until,
} from './up-harness.ts';

/** Room for a slow machine: nothing here waits for its own sake. */
const timeout = 900_000;
const rollOvers = Number(process.env.FAIRLEAD_ROLL_OVERS ?? 2);
// The documentation's example has its Service at 10.0.0.11.
const flags = ['--nodes', '2', '--service-cluster-ip-range', '10.0.0.0/24,fd00:96::/108'];
const identities = ['root', 'an ordinary user'] as const satisfies readonly Identity[];

type Run = {
  readonly start: () => Promise<void>;
  /** The one that runs now. */
  readonly up: () => Up;
  readonly networkBefore: () => string;
};

for (const identity of identities) {
  describe(`up as ${identity}`, { timeout }, () => {
    const directory = makeDirectory(identity);
    let current: Up;
    let networkBefore: string;
    const run: Run = {
      async start() {
        current = await startUp(identity, directory, flags);
      },
      up: () => current,
      networkBefore: () => networkBefore,
    };

    before(async () => {
      networkBefore = await machineNetwork();
      await run.start();
    });

    after(async () => {
      const { exitCode, signalCode } = current.process;
      if (exitCode === null && signalCode === null) await endWith(current, 'SIGKILL');
      removeDirectory(directory);
    });

    useIt(run);
    endIt(run);
  });
}

function useIt(run: Run): void {
  test('the guestbook answers on its load balancer and its node port (NPT-18)', async () => {
    await run.up().kubectl('apply', '-f', 'examples/guestbook');
    await rolledOut(run.up(), 'redis-leader', 'backend', 'frontend');
    const balancer = await relayOf(run.up(), 'load balancer', 'default/frontend');
    const nodePort = await relayOf(run.up(), 'node port', 'default/frontend');
    assert.match(await answer(balancer), /^Guestbook, from frontend-/);
    assert.match(await answer(nodePort), /^Guestbook, from frontend-/);
  });

  test('a pod reaches a Service by name and by cluster IP', async () => {
    const [pod = ''] = await names(run.up(), 'pods', 'tier=frontend');
    const ip = await run
      .up()
      .kubectl('get', 'service', 'backend', '-o', 'jsonpath={.spec.clusterIP}');
    for (const url of [
      'http://backend',
      'http://backend.default.svc.cluster.local',
      `http://${ip}`,
    ]) {
      assert.match(await curlInside(run.up(), url, '--pod', pod), /"backend":"backend-/, url);
    }
    assert.match(await curlInside(run.up(), 'http://backend'), /"backend":"backend-/);
  });

  test('containers have variables of Services as documented (ENV-01)', async () => {
    await run.up().kubectl('apply', '-f', 'test/netns/expected/redis-master.yaml');
    const text = await until(async () => {
      const log = await run
        .up()
        .kubectl('logs', 'environment')
        .catch(() => '');
      return log.includes('end') ? log : undefined;
    });
    const lines = text.split('\n').filter((line) => line.startsWith('REDIS_MASTER'));
    assert.deepEqual(lines, [
      'REDIS_MASTER_PORT=tcp://10.0.0.11:6379',
      'REDIS_MASTER_PORT_6379_TCP=tcp://10.0.0.11:6379',
      'REDIS_MASTER_PORT_6379_TCP_ADDR=10.0.0.11',
      'REDIS_MASTER_PORT_6379_TCP_PORT=6379',
      'REDIS_MASTER_PORT_6379_TCP_PROTO=tcp',
      'REDIS_MASTER_SERVICE_HOST=10.0.0.11',
      'REDIS_MASTER_SERVICE_PORT=6379',
    ]);
  });

  test('more pods answer after scaling, and none fails while they are replaced', async (t) => {
    await run.up().kubectl('scale', 'deployment/frontend', '--replicas', '5');
    await rolledOut(run.up(), 'frontend');
    const endpoint = await relayOf(run.up(), 'node port', 'default/frontend');
    const load = startLoad(endpoint);
    for (let round = 0; round < rollOvers; round += 1) {
      await run.up().kubectl('rollout', 'restart', 'deployment/frontend');
      await rolledOut(run.up(), 'frontend');
    }
    const { answers, failures } = await load.stop();
    t.diagnostic(`${rollOvers} roll-overs, ${answers} answers, ${failures.length} failures`);
    assert.deepEqual(failures, []);
    assert.ok(answers > 0);
  });

  test('what is deleted is no longer relayed', async () => {
    await run.up().kubectl('delete', '-f', 'examples/guestbook', '--wait=false');
    await until(() =>
      run
        .up()
        .state()
        .relays.some(({ service }) => service === 'default/frontend')
        ? undefined
        : true,
    );
    assert.doesNotMatch(await run.up().fairlead('status'), /default\/frontend/);
  });
}

function endIt(run: Run): void {
  test('Ctrl-C leaves nothing, and the data is there after the next start', async () => {
    const traces = run.up().traces();
    assert.ok(traces.processes.length > 3);
    assert.ok(traces.namespaces.length >= 3, 'lan and two nodes');
    assert.equal(await endWith(run.up(), 'SIGINT'), 0);
    assert.deepEqual(await leftOf(traces), []);
    assert.equal(await machineNetwork(), run.networkBefore());
    await run.start();
    assert.deepEqual(await names(run.up(), 'services', 'name=redis-master'), ['redis-master']);
  });

  test('killed, it leaves nothing', async () => {
    const traces = run.up().traces();
    await endWith(run.up(), 'SIGKILL');
    assert.deepEqual(await leftOf(traces), []);
    assert.equal(await machineNetwork(), run.networkBefore());
  });

  test('after a crash it starts again, and down --purge ends it and removes its data', async () => {
    await run.start();
    const exited = new Promise((resolve) => run.up().process.once('exit', resolve));
    const text = await run.up().fairlead('down', '--purge');
    assert.match(text, /Removed \.fairlead/);
    assert.equal(await exited, 0);
    await assert.rejects(run.up().fairlead('status'), /Nothing runs/);
    assert.equal(await machineNetwork(), run.networkBefore());
  });
}

async function rolledOut(up: Up, ...deployments: readonly string[]): Promise<void> {
  for (const name of deployments) await up.kubectl('rollout', 'status', `deployment/${name}`);
}

async function names(up: Up, resource: string, labels: string): Promise<readonly string[]> {
  const text = await up.kubectl('get', resource, '-l', labels, '-o', 'name');
  return text
    .trim()
    .split('\n')
    .map((line) => line.replace(/^.*\//, ''));
}

type Endpoint = { readonly host: string; readonly port: number };

function relayOf(up: Up, purpose: string, service: string): Promise<Endpoint> {
  return until(() => {
    const found = up
      .state()
      .relays.find((relay) => relay.purpose === purpose && relay.service === service);
    assert.equal(found?.problem, undefined);
    return found?.listen;
  });
}

/** The rules of a Service are a moment behind its pods. */
function answer({ host, port }: Endpoint): Promise<string> {
  return until(() => ask(host, port).catch(() => undefined));
}

/** So are its names. */
function curlInside(up: Up, url: string, ...where: readonly string[]): Promise<string> {
  const curl = ['curl', '-sS', '--max-time', '30', url];
  return until(() => up.fairlead('shell', ...where, '--', ...curl).catch(() => undefined));
}

/** Asks over and over, each time over a new connection, several at once. */
function startLoad({ host, port }: Endpoint) {
  const failures: string[] = [];
  let answers = 0;
  let isOver = false;
  const one = async (): Promise<void> => {
    while (!isOver) {
      try {
        await ask(host, port);
        answers += 1;
      } catch (error) {
        failures.push(String(error));
      }
      // Room for the pods that come up on the same machine.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const running = Array.from({ length: 4 }, one);
  return {
    async stop() {
      isOver = true;
      await Promise.all(running);
      return { answers, failures };
    },
  };
}
