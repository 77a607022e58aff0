// The command line that starts a program inside what `up` runs: on a node, or in a pod beside its container.
export type ShellPlace = {
  /** A process of the namespaces that `up` lives in; absent: it lives on the machine itself. */
  readonly firstProcess?: number;
  /** Whether those belong to a user namespace. */
  readonly isUserNamespace: boolean;
};

export type NodeTarget = {
  readonly kind: 'node';
  /** Network namespace, as processes inside see it; absent: the machine's. */
  readonly namespacePath?: string;
  /** A file to see as /etc/resolv.conf, so that names of the cluster work. */
  readonly resolvConf: string;
};

/** A host beside the nodes: a client from outside the cluster. */
export type OutsideTarget = { readonly kind: 'outside'; readonly namespacePath: string };

export type PodTarget = {
  readonly kind: 'pod';
  /** The container's program, as processes inside see it. */
  readonly pid: number;
};

/** Runs as root of the namespaces: a mount of one's own hides the machine's file. */
const withNames = 'mount --bind "$1" /etc/resolv.conf && shift && exec "$@"';

export function shellCommand(
  place: ShellPlace,
  target: NodeTarget | OutsideTarget | PodTarget,
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
    return [...enter(place), 'nsenter', ...container, '--', ...command];
  }
  if (target.kind === 'outside') return [...enter(place, target.namespacePath), ...command];
  const { namespacePath, resolvConf } = target;
  const mounts = ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', withNames, 'sh'];
  return [...enter(place, namespacePath), ...mounts, resolvConf, ...command];
}

function enter({ firstProcess, isUserNamespace }: ShellPlace, network?: string): readonly string[] {
  if (firstProcess === undefined) {
    return network === undefined ? [] : ['nsenter', `--net=${network}`, '--'];
  }
  return [
    ...['nsenter', '--target', String(firstProcess)],
    ...(isUserNamespace ? ['--user', '--preserve-credentials'] : []),
    ...['--mount', '--pid'],
    // Opened before anything is entered, so it is written as the machine sees it.
    ...(network === undefined ? [] : [`--net=/proc/${firstProcess}/root${network}`]),
    '--',
  ];
}
