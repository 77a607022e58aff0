// From where a connection is tried: the network of a pod or node of `up`, that of this machine, or inside a pod through the API.
import { networkInterfaces } from 'node:os';
import { execInPod } from '../../client/exec-in-pod.ts';
import type { Session } from '../../flags/client-flags.ts';
import { FailedError, UsageError, type World } from '../../flags/command.ts';
import type { UpState } from '../../flags/state-file.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { isApiError } from '../../meta/api-error.ts';
import { printable } from '../../meta/printable.ts';
import type { SnapshotIndex } from '../../snapshot/index-snapshot.ts';
import type { Ask } from '../../trace/live/live-request.ts';
import type { PodSite } from '../../trace/live/run-in-pod.ts';
import type { LiveSite } from '../../trace/live/run-live.ts';
import { nodeAddressesOf } from '../../trace/resolve-source.ts';
import type { TraceSource } from '../../trace/trace.ts';
import { shellCommand } from '../../up/shell-command.ts';
import { containerProcessOf, namespacesOf, programOf } from '../../up/up-processes.ts';
import { apiErrorText } from '../output/api-error-text.ts';
import { type LiveProcess, liveCommand, startLiveProcess } from './live-process.ts';

export type OpenedSite = {
  readonly site: ({ readonly kind: 'network' } & LiveSite) | ({ readonly kind: 'pod' } & PodSite);
  readonly close: () => void;
};

export type SiteOptions = {
  readonly session: Session;
  readonly world: World;
  readonly index: SnapshotIndex;
  readonly up: UpState | undefined;
};

export function openLiveSite(source: TraceSource, options: SiteOptions): OpenedSite {
  switch (source.kind) {
    case 'pod':
      return openPodSite(source, options);
    case 'node':
      return openNodeSite(source.name ?? '', options);
    case 'outside':
      return openOutsideSite(source, options);
  }
}

function openPodSite(source: TraceSource, options: SiteOptions): OpenedSite {
  const { up, index } = options;
  const { namespace = '', name = '' } = source;
  const pod = source.isAssumed ? undefined : index.pod(namespace, name);
  if (pod === undefined) {
    throw new UsageError(
      '--live: a connection is tried from one pod, node or client, want --from pod/NAME, node/NAME or outside',
    );
  }
  const pid = up === undefined ? undefined : containerProcessOf(up.nodes, pod);
  if (up === undefined || pid === undefined) return execSite(pod, options);
  const namespaces = namespacesOf(up);
  const inside = programOf(namespaces, pid);
  const sentence = `from the network of pod ${namespace}/${name}, on this machine`;
  const command = shellCommand(namespaces, { kind: 'pod-network', pid: inside }, liveCommand());
  return networkSite(command, options, {
    sentence,
    resolverPath: `/proc/${inside}/root${resolvConf}`,
  });
}

const resolvConf = '/etc/resolv.conf';

function openNodeSite(name: string, options: SiteOptions): OpenedSite {
  const { up, index } = options;
  const isOfUp = up?.nodes.some((one) => one.name === name) ?? false;
  const isHere = isThisMachine(index.node(name));
  if (!isOfUp && !isHere) {
    throw new FailedError(
      `--live: node "${name}" is another machine: run this there, or try it from one of its pods`,
      { exitCode: 2 },
    );
  }
  const command = isOfUp ? nodeCommand(name, options) : liveCommand();
  const sentence = `from the network of node ${name}${isOfUp ? '' : ', which is this machine'}`;
  return networkSite(command, options, { sentence, resolverPath: resolvConf });
}

function openOutsideSite({ addresses }: TraceSource, options: SiteOptions): OpenedSite {
  const { up } = options;
  const [ip] = addresses;
  const isOwn = ip === undefined || ownAddresses().has(ip);
  if (up?.outside === undefined) {
    const sentence = `from this machine${isOwn ? '' : `, which does not have the address ${ip}`}`;
    return networkSite(liveCommand(), options, { sentence, resolverPath: resolvConf });
  }
  const { namespacePath } = up.outside;
  const command = shellCommand(namespacesOf(up), { kind: 'outside', namespacePath }, liveCommand());
  const sentence = 'from the network beside the nodes of `up`';
  return networkSite(command, options, { sentence, resolverPath: resolvConf });
}

function nodeCommand(name: string, { up }: SiteOptions): readonly string[] {
  const node = up?.nodes.find((one) => one.name === name);
  if (up === undefined || node === undefined) return liveCommand();
  const namespaces = namespacesOf(up);
  const { namespacePath } = node;
  // A host beside the nodes is entered like a node without its resolv.conf.
  return namespacePath === undefined
    ? shellCommand(namespaces, { kind: 'machine' }, liveCommand())
    : shellCommand(namespaces, { kind: 'outside', namespacePath }, liveCommand());
}

type Words = Pick<LiveSite, 'sentence' | 'resolverPath'>;

function networkSite(
  command: readonly string[],
  options: SiteOptions,
  { sentence, resolverPath }: Words,
): OpenedSite {
  const { world, up, index } = options;
  const started: LiveProcess[] = [];
  const start = (words: readonly string[]): Ask => {
    const one = startLiveProcess(words, world.env);
    started.push(one);
    return one.ask;
  };
  const close = (): void => {
    for (const one of started) one.close();
  };
  const ask = start(command);
  const here = index.snapshot.objects.nodes.filter(isThisMachine);
  const nodes =
    up?.nodes.map(({ name }) => name) ?? here.map(({ metadata }) => metadata.name ?? '');
  const byNode = new Map<string, Ask>();
  return {
    close,
    site: {
      ...{ kind: 'network', sentence, resolverPath, ask, nodes },
      atNode(node) {
        if (up === undefined && process.getuid?.() !== 0) {
          return Promise.resolve({ why: 'only root can read what the kernel of this node holds' });
        }
        const known = byNode.get(node) ?? start(nodeCommand(node, options));
        byNode.set(node, known);
        return Promise.resolve(known);
      },
    },
  };
}

function isThisMachine(node: Parameters<typeof nodeAddressesOf>[0] | undefined): boolean {
  if (node === undefined) return false;
  const own = ownAddresses();
  return nodeAddressesOf(node).some((ip) => own.has(ip));
}

function ownAddresses(): ReadonlySet<string> {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return new Set(all.map(({ address }) => address));
}

const defaultContainer = 'kubectl.kubernetes.io/default-container';

function execSite(pod: Pod, { session, world }: SiteOptions): OpenedSite {
  const { namespace = '', name = '' } = pod.metadata;
  const container = pod.metadata.annotations?.[defaultContainer] ?? pod.spec.containers?.[0]?.name;
  const run = async (command: readonly string[], timeoutMs: number): Promise<string> => {
    const request = { namespace, pod: name, command, timeoutMs };
    try {
      const { stdout, failure } = await execInPod(
        session.connection,
        { ...request, ...(container === undefined ? {} : { container }) },
        world.interrupted,
      );
      if (failure === undefined) return stdout;
      throw new FailedError(`nothing in its image can do it: ${failure}`);
    } catch (error) {
      throw new FailedError(
        printable(`Cannot try it from pod ${namespace}/${name}: ${reasonOf(error)}`),
        { exitCode: 2, cause: error },
      );
    }
  };
  const sentence = `from inside pod ${namespace}/${name}, through the API (exec)`;
  return { site: { kind: 'pod', sentence, run }, close: () => {} };
}

function reasonOf(error: unknown): string {
  if (isApiError(error)) return apiErrorText(error);
  const { name, message } = error as Error;
  return name === 'TimeoutError' ? 'it takes too long' : message;
}
