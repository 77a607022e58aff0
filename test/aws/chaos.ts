// The service controller with the provider for AWS, killed at random, while Services come, change and go, and one in five calls to AWS
// fails. At rest the account holds exactly what the Services say: what a single run over them in a quiet account makes.
import { createLocalCall } from '../../src/apiserver/local-call.ts';
import { makeAwsProvider } from '../../src/cloud/providers/aws/run.ts';
import { startCloud } from '../../src/cloud/run.ts';
import type { Node } from '../../src/kinds/node/types.ts';
import type { Service } from '../../src/kinds/service/types.ts';
import { silentLog } from '../../src/observe/log.ts';
import type { ObjectList } from '../parts/harness/api-client.ts';
import { createFaultyTransport, type FaultyTransport } from '../parts/harness/faulty-transport.ts';
import { type MemoryServer, startMemoryServer } from '../parts/harness/memory-server.ts';
import { createRandom, type Random } from '../parts/harness/random.ts';
import { setTestCredentials, startAwsWorld } from './aws-world.ts';
import { describeAccount } from './describe-account.ts';
import { type Emulator, type Fault, startEmulator } from './emulator.ts';
import { exampleAccount, exampleCluster } from './example-account.ts';
import { createFastClock } from './fast-clock.ts';
import {
  type ApiRequest,
  createRequest,
  drawRequest,
  nodeRequest,
  servicesPath,
} from './service-churn.ts';

export type ChaosOptions = {
  readonly services: number;
  readonly changes: number;
  readonly kills: number;
  readonly seed: number;
};

export type ChaosResult = {
  readonly found: readonly string[];
  readonly wanted: readonly string[];
  readonly balancers: number;
  /** While they may fail. */
  readonly calls: number;
  readonly faults: number;
};

const oneInCalls = 5;
/** What AWS shows is so old, and the provider reckons with more: 20 times as quick. */
const lagMs = 30;
const timesQuicker = 20;
const settleSeconds = 2;
/** Calls to AWS between two changes of Services. */
const callsBetween = 12;
/** Of a quarter of a second without a call each: longer than the longest back-off of the controller. */
const maxQuietChecks = 100;

export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  setTestCredentials();
  const random = createRandom(options.seed);
  const faults = createFaults(random);
  const server = await startMemoryServer();
  const emulator = await startEmulator({
    account: exampleAccount(),
    limits: { balancers: 10_000, rulesPerGroup: 10_000, pageSize: 200 },
    lagMs,
    faultOf: faults.faultOf,
  });
  const controllers = createControllers({ server, emulator, random });
  try {
    await churn({ options, random, server, emulator, kill: controllers.restart });
    const calls = emulator.callCount();
    faults.heal();
    controllers.heal();
    const wanted = await whatServicesSay(server);
    const found = await atRest(emulator, wanted);
    const balancers = emulator.account().classic.size + emulator.account().network.size;
    return { found, wanted, balancers, calls, faults: faults.count() };
  } finally {
    await controllers.stop();
    await emulator.stop();
    await server.stop();
  }
}

function createFaults(random: Random) {
  let isFaulty = true;
  let count = 0;
  return {
    faultOf(): Fault {
      if (!isFaulty || random.below(oneInCalls) > 0) return 'none';
      count += 1;
      return random.pick<Fault>(['throttle', 'fail', 'fail-after', 'drop-after']);
    },
    heal(): void {
      isFaulty = false;
    },
    count: (): number => count,
  };
}

type ControllersInput = {
  readonly server: MemoryServer;
  readonly emulator: Emulator;
  readonly random: Random;
};

function createControllers({ server, emulator, random }: ControllersInput) {
  const identity = { user: 'system:cloud-controller-manager', groups: ['system:masters'] };
  const direct = createLocalCall(server.server.handle, identity);
  const settings = {
    awsEndpoint: emulator.endpoint,
    awsRegion: 'test-1',
    awsMaxAttempts: '2',
    awsSettleSeconds: String(settleSeconds),
  };
  const ended: Promise<void>[] = [];
  const start = () => {
    const faulty = createFaultyTransport(direct, random);
    const stopping = new AbortController();
    ended.push(
      startCloud({
        transport: faulty.transport,
        log: silentLog,
        clock: createFastClock(timesQuicker),
        clusterName: exampleCluster,
        makeProvider: makeAwsProvider,
        settings,
        signal: stopping.signal,
      }),
    );
    return { faulty, stopping };
  };
  let current: { readonly faulty: FaultyTransport; readonly stopping: AbortController } = start();
  const kill = (): void => {
    current.faulty.kill();
    current.stopping.abort();
  };
  return {
    restart(): void {
      kill();
      current = start();
    },
    heal: () => current.faulty.heal(),
    async stop(): Promise<void> {
      kill();
      await Promise.all(ended);
    },
  };
}

type ChurnInput = {
  readonly options: ChaosOptions;
  readonly random: Random;
  readonly server: MemoryServer;
  readonly emulator: Emulator;
  readonly kill: () => void;
};

async function churn({ options, random, server, emulator, kill }: ChurnInput): Promise<void> {
  const { services, changes, kills } = options;
  // What the API refuses, because it is not there or there already, is no change.
  const send = async (request: ApiRequest): Promise<void> => {
    const type = request.method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    await server.api.send({ ...request, headers: { 'content-type': type } });
  };
  for (const name of ['n1', 'n2', 'n3', 'n4']) await send(nodeRequest(name));
  for (let at = 0; at < services; at += 1) await send(createRequest(`s${at}`, random));
  for (let change = 0; change < changes; change += 1) {
    await send(drawRequest(`s${random.below(services)}`, random));
    await emulator.whenCalled(callsBetween);
    if (random.below(Math.ceil(changes / kills)) === 0) kill();
  }
}

/** Every Service that wants a balancer, served once and in peace. */
async function whatServicesSay({ api }: MemoryServer): Promise<readonly string[]> {
  const { items: services } = await api.get<ObjectList<Service>>(servicesPath);
  const { items: nodes } = await api.get<ObjectList<Node>>('/api/v1/nodes');
  const limits = { balancers: 10_000, rulesPerGroup: 10_000, pageSize: 200 };
  const world = await startAwsWorld({ limits });
  try {
    const provider = await world.makeProvider();
    const never = new AbortController().signal;
    for (const service of services) {
      const isWanted = service.metadata.deletionTimestamp === undefined;
      if (!isWanted || service.spec.type !== 'LoadBalancer') continue;
      await provider.ensure({ service, nodes }, never);
    }
    return comparable(await world.made());
  } finally {
    await world.stop();
  }
}

/** AWS stores equal rules once, with the description of any balancer that needs them. */
const comparable = (lines: readonly string[]): readonly string[] =>
  lines
    .map((line) =>
      line.replace(/(kubernetes\.io\/rule\/(?:nlb\/(?:health|mtu)|elb\/lent))=.*/, '$1'),
    )
    .sort();

/** The state after the last call: an idle provider must not undo it. */
async function atRest(emulator: Emulator, wanted: readonly string[]): Promise<readonly string[]> {
  const inspect = (): readonly string[] => comparable(describeAccount(emulator.account()));
  const text = wanted.join('\n');
  for (let quiet = 0; quiet < maxQuietChecks && inspect().join('\n') !== text; ) {
    const before = emulator.callCount();
    await emulator.whenCalled(callsBetween);
    quiet = emulator.callCount() === before ? quiet + 1 : 0;
  }
  await emulator.whenCalled(Number.POSITIVE_INFINITY);
  return inspect();
}
