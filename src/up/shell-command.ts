// The command line that starts a program inside what `up` runs: on a node, or in a pod beside its container.
export type UpNamespaces = {
  /** The first process in the namespaces of `up`; absent: `up` runs in those of the machine. */
  readonly firstProcess?: number;
  /** Whether they belong to a user namespace. */
  readonly isUserNamespace: boolean;
};

export type NodeTarget = {
  readonly kind: 'node';
  /** Path of the network namespace as seen inside; absent: the machine's. */
  readonly namespacePath?: string;
  /** The file to mount at /etc/resolv.conf, so that cluster names resolve. */
  readonly resolvConf: string;
};

/** A host beside the nodes: a client from outside the cluster. */
export type OutsideTarget = { readonly kind: 'outside'; readonly namespacePath: string };

export type PodTarget = {
  readonly kind: 'pod';
  /** Process id of the container's program as seen inside. */
  readonly pid: number;
};

/** What the nodes of `up` share with the machine, where they have no network of their own. */
export type MachineTarget = { readonly kind: 'machine' };

/** The network of a pod, with the files of the machine: for programs that its image lacks. */
export type PodNetworkTarget = { readonly kind: 'pod-network'; readonly pid: number };

/** Runs as root of the namespaces: a private bind mount hides the machine's file. */
const withNames = 'mount --bind "$1" /etc/resolv.conf && shift && exec "$@"';

export function shellCommand(
  up: UpNamespaces,
  target: NodeTarget | OutsideTarget | PodTarget | PodNetworkTarget | MachineTarget,
  command: readonly string[],
): readonly string[] {
  if (target.kind === 'pod') {
    const container = [
      '--target',
      String(target.pid),
      ...['--mount', '--pid', '--uts', '--ipc', '--net'],
      '--root',
      '--wd',
    ];
    return [...enter(up), 'nsenter', ...container, '--', ...command];
  }
  if (target.kind === 'machine') return [...enter(up), ...command];
  if (target.kind === 'pod-network') {
    return [...enter(up), 'nsenter', '--target', String(target.pid), '--net', '--', ...command];
  }
  if (target.kind === 'outside') return [...enter(up, target.namespacePath), ...command];
  const { namespacePath, resolvConf } = target;
  const mounts = ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', withNames, 'sh'];
  return [...enter(up, namespacePath), ...mounts, resolvConf, ...command];
}

function enter(
  { firstProcess, isUserNamespace }: UpNamespaces,
  network?: string,
): readonly string[] {
  if (firstProcess === undefined) {
    return network === undefined ? [] : ['nsenter', `--net=${network}`, '--'];
  }
  return [
    ...['nsenter', '--target', String(firstProcess)],
    ...(isUserNamespace ? ['--user', '--preserve-credentials'] : []),
    ...['--mount', '--pid'],
    // nsenter opens the path before it enters anything, so it is a path on the machine.
    ...(network === undefined ? [] : [`--net=/proc/${firstProcess}/root${network}`]),
    '--',
  ];
}
