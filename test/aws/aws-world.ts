// The provider and the emulator together, as the contract of providers wants a world.
import type { ProviderWorld } from '../../src/cloud/provider.contract.ts';
import type { Owner, Provider, ServiceHandler } from '../../src/cloud/provider.ts';
import { makeAwsProvider } from '../../src/cloud/providers/aws/run.ts';
import { cleanupFinalizer } from '../../src/cloud/service-controller/desired.ts';
import { systemClock } from '../../src/host/clock.ts';
import type { Service } from '../../src/kinds/service/types.ts';
import { silentLog } from '../../src/observe/log.ts';
import { createMetrics } from '../../src/observe/metrics.ts';
import { describeAccount } from './describe-account.ts';
import { type Emulator, type EmulatorOptions, type Fault, startEmulator } from './emulator.ts';
import { exampleAccount, exampleCluster, exampleNodes } from './example-account.ts';
import { type Account, put } from './world.ts';

export type AwsWorldOptions = Partial<EmulatorOptions> & {
  /** Added to every Service, as a person would. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly settleSeconds?: number;
  readonly maxAttempts?: number;
};

export type AwsWorld = ProviderWorld & {
  readonly emulator: Emulator;
  /** The provider watches published Services; it gets the present ones at once. */
  readonly settings: Readonly<Record<string, string>>;
};

/** The SDK signs its requests, although the emulator ignores the signature. */
export function setTestCredentials(): void {
  process.env.AWS_ACCESS_KEY_ID = 'AKIDEXAMPLE';
  process.env.AWS_SECRET_ACCESS_KEY = 'example';
}

export async function startAwsWorld(options: AwsWorldOptions = {}): Promise<AwsWorld> {
  setTestCredentials();
  const armed = createArmedFault();
  const emulator = await startEmulator({
    account: exampleAccount(),
    faultOf: armed.faultOf,
    ...options,
  });
  const settings = {
    awsEndpoint: emulator.endpoint,
    awsRegion: 'test-1',
    awsMaxAttempts: String(options.maxAttempts ?? 1),
    awsSettleSeconds: String(options.settleSeconds ?? 0),
  };
  const stopping = new AbortController();
  const services = createServiceList();
  const ports = createPortAllocator();
  const annotate = (service: Service): Service => ({
    ...service,
    metadata: {
      ...service.metadata,
      annotations: { ...options.annotations, ...service.metadata.annotations },
      finalizers: [cleanupFinalizer],
    },
    spec: { ...service.spec, ports: ports.give(service) },
  });
  return {
    emulator,
    settings,
    nodes: exampleNodes,
    makeProvider: (): Promise<Provider> =>
      makeAwsProvider(
        {
          clusterName: exampleCluster,
          settings,
          followServices: services.follow,
          clock: systemClock,
          log: silentLog,
          metrics: createMetrics(),
        },
        stopping.signal,
      ),
    made: async () => describeAccount(emulator.account()),
    publish: async (service, ingress) => {
      const known = annotate({ ...service, status: { loadBalancer: { ingress } } });
      services.set(known);
      return known;
    },
    forget: async (service) => services.remove(service),
    hostsOf: async (service) => hostsOf(emulator.account(), service),
    failAfter: armed.arm,
    hasFailed: armed.disarm,
    addForeign: async (owner) => addForeign(emulator, owner),
    async stop() {
      stopping.abort();
      await emulator.stop();
    },
  };
}

/** One call fails, in each of the ways in turn. */
function createArmedFault() {
  const kinds: readonly Fault[] = ['fail', 'fail-after', 'throttle', 'drop-after'];
  let left = Number.POSITIVE_INFINITY;
  let hasFailed = false;
  let kind: Fault = 'fail';
  return {
    arm(calls: number): void {
      left = calls;
      hasFailed = false;
      kind = kinds[calls % kinds.length] ?? 'fail';
    },
    disarm(): boolean {
      left = Number.POSITIVE_INFINITY;
      return hasFailed;
    },
    faultOf(): Fault {
      left -= 1;
      if (left !== -1) return 'none';
      hasFailed = true;
      return kind;
    },
  };
}

function createServiceList() {
  const services = new Map<string, Service>();
  const handlers: ServiceHandler[] = [];
  return {
    set(service: Service): void {
      services.set(service.metadata.uid ?? '', service);
      for (const handler of handlers) handler.set(service);
    },
    remove(service: Service): void {
      services.delete(service.metadata.uid ?? '');
      for (const handler of handlers) handler.remove(service);
    },
    follow(handler: ServiceHandler): void {
      handlers.push(handler);
      for (const service of services.values()) handler.set(service);
    },
  };
}

/** Node ports are a Service's own, as the API server sees to; who asks for one that is taken gets another. */
function createPortAllocator() {
  const owners = new Map<number, string>();
  return {
    give({ metadata, spec }: Service): NonNullable<Service['spec']['ports']> {
      const uid = metadata.uid ?? '';
      return (spec.ports ?? []).map((port) => {
        if ((port.nodePort ?? 0) === 0) return port;
        let nodePort = port.nodePort ?? 0;
        while ((owners.get(nodePort) ?? uid) !== uid) nodePort += 100;
        owners.set(nodePort, uid);
        return { ...port, nodePort };
      });
    },
  };
}

function hostsOf(account: Account, { metadata }: Service): readonly string[] {
  const tag = `${metadata.namespace}/${metadata.name}`;
  const isOf = ({ tags }: { readonly tags: Readonly<Record<string, string>> }): boolean =>
    tags['kubernetes.io/service-name'] === tag;
  const classic = [...account.classic.values()].find(isOf);
  const group = [...account.targetGroups.values()].find(isOf);
  const targets = Object.entries(group?.targets ?? {}).filter(([, state]) => state === 'healthy');
  return (classic?.instances ?? targets.map(([id]) => id))
    .map((id) => id.replace(/^i-/, ''))
    .toSorted();
}

/** A rule in the nodes' group, and the same Service's things in another cluster. */
function addForeign(emulator: Emulator, owner: Owner): () => Promise<boolean> {
  const tags = {
    'kubernetes.io/cluster/other': 'owned',
    'the-service': `${owner.namespace}/${owner.name}`,
  };
  const rule = { protocol: 'tcp', from: 22, to: 22, source: '192.0.2.0/24', description: 'ssh' };
  const foreign = {
    ...{ id: 'sg-foreign', name: 'k8s-elb-foreign', description: 'foreign', vpcId: 'vpc-1', tags },
    permissions: new Map([['ssh', rule]]),
  };
  emulator.change((account) => {
    const nodes = account.groups.get('sg-nodes');
    const groups = put(account.groups, foreign.id, foreign);
    if (nodes === undefined) return { ...account, groups };
    const permissions = new Map(nodes.permissions).set('tcp 22-22 192.0.2.0/24', rule);
    return { ...account, groups: put(groups, nodes.id, { ...nodes, permissions }) };
  });
  return async () => {
    const { groups } = emulator.account();
    const isKept = groups.get('sg-nodes')?.permissions.get('tcp 22-22 192.0.2.0/24') === rule;
    return isKept && groups.get(foreign.id) === foreign;
  };
}
