// Runs a shell, or any program, on a node or in a pod of `up`.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { writePrivateFile } from '../../apiserver/certificates/private-file.ts';
import { resourceClient } from '../../client/rest.ts';
import { withSession } from '../../flags/client-flags.ts';
import {
  type CommandDefinition,
  FailedError,
  UsageError,
  type World,
} from '../../flags/command.ts';
import { readRunning, type UpState } from '../../flags/state-file.ts';
import { podDefinition } from '../../kinds/pod/definition.ts';
import { addDataDirFlag, type DataDirFlag } from '../../up/data-dir-flag.ts';
import { shellCommand, type UpNamespaces } from '../../up/shell-command.ts';
import { containerProcessOf, namespacesOf, programOf } from '../../up/up-processes.ts';

type Flags = DataDirFlag & {
  readonly pod?: string;
  readonly node?: string;
  readonly container?: string;
  readonly outside?: true;
  readonly namespace: string;
};

export const shell: CommandDefinition = {
  configure(command, world) {
    addDataDirFlag(command)
      .option('--pod <name>', 'Pod to open the shell in')
      .option('-c, --container <name>', 'Container of the pod (default: the first)')
      .option('-n, --namespace <name>', 'Namespace of the pod', 'default')
      .option('--node <name>', 'Node to open the shell on (default: the first)')
      .option(
        '--outside',
        'Opens the shell on the network of the nodes, as a client outside of the cluster',
      )
      .argument('[command...]', 'Command to run instead of a shell, after --')
      .action(async (words: readonly string[], flags: Flags) => run(words, flags, world));
  },
};

async function run(words: readonly string[], flags: Flags, world: World): Promise<void> {
  const state = readRunning(resolve(world.cwd(), flags.dataDir));
  if (state === undefined) {
    throw new FailedError(
      `Nothing runs with the data in "${flags.dataDir}". \`fairlead up\` starts it.`,
    );
  }
  const namespaces = namespacesOf(state);
  const command = words.length > 0 ? words : [world.env.SHELL ?? 'sh'];
  if (flags.pod !== undefined) {
    const outside = await containerProcess(state, { ...flags, pod: flags.pod }, world);
    const pid = programOf(namespaces, outside);
    const env = { ...containerVariables(namespaces, pid), TERM: world.env.TERM ?? 'dumb' };
    const target = { kind: 'pod', pid } as const;
    return become(shellCommand(namespaces, target, words.length > 0 ? words : ['sh']), env);
  }
  if (flags.outside === true) return outside(state, namespaces, command, world);
  const node = nodeOf(state, flags.node);
  const resolvConf = join(state.dataDir, 'shell-resolv.conf');
  // Replaced by rename: a running shell keeps the file that it has mounted.
  await writePrivateFile(resolvConf, resolverText(state));
  const { namespacePath } = node;
  const target = {
    ...({ kind: 'node', resolvConf } as const),
    ...(namespacePath === undefined ? {} : { namespacePath }),
  };
  return become(shellCommand(namespaces, target, command), {
    ...world.env,
    FAIRLEAD_NODE: node.name,
  });
}

function outside(
  { outside: network, dataDir }: UpState,
  namespaces: UpNamespaces,
  command: readonly string[],
  { env }: World,
): Promise<void> {
  if (network === undefined) {
    throw new UsageError(
      `There is no network beside the nodes of "${dataDir}": that machine is the node itself.`,
    );
  }
  const target = { kind: 'outside', namespacePath: network.namespacePath } as const;
  return become(shellCommand(namespaces, target, command), {
    ...env,
    FAIRLEAD_SERVER: network.server,
  });
}

function nodeOf({ nodes }: UpState, name: string | undefined): UpState['nodes'][number] {
  const found = name === undefined ? nodes[0] : nodes.find((node) => node.name === name);
  if (found !== undefined) return found;
  const known = nodes.map((node) => node.name).join(', ') || 'none';
  throw new UsageError(`There is no node "${name ?? ''}"; there are: ${known}.`);
}

/** Short names resolve as in a pod of the namespace default. */
function resolverText({ dns, domain }: UpState): string {
  const search = ['default.svc', 'svc'].map((prefix) => `${prefix}.${domain}`);
  const servers = dns.map((address) => `nameserver ${address}\n`).join('');
  return `search ${[...search, domain].join(' ')}\n${servers}options ndots:5\n`;
}

function containerProcess(
  { kubeconfig, nodes }: UpState,
  { pod: name, namespace, container }: Flags & { readonly pod: string },
  world: World,
): Promise<number> {
  return withSession({ kubeconfig, namespace }, world, async ({ caller }) => {
    const pod = await resourceClient(caller, podDefinition).get({ namespace, name });
    const pid = containerProcessOf(nodes, pod, container);
    if (pid === undefined) {
      throw new FailedError(
        `Pod "${name}" has no running container of that name on a node of \`up\`.`,
      );
    }
    return pid;
  });
}

/** The environment of the container, with its Service variables. */
function containerVariables({ firstProcess }: UpNamespaces, pid: number): Record<string, string> {
  const inside = firstProcess === undefined ? '' : `/proc/${firstProcess}/root`;
  const pairs = readFileSync(`${inside}/proc/${pid}/environ`, 'utf8').split('\0');
  return Object.fromEntries(
    pairs.flatMap((pair) => {
      const at = pair.indexOf('=');
      return at < 0 ? [] : [[pair.slice(0, at), pair.slice(at + 1)]];
    }),
  );
}

function become(
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  // nsenter is resolved with our own PATH, not with that of the container.
  const child = spawn(program, args, { stdio: 'inherit', env: { ...env } });
  // Ctrl-C is handled by the program inside.
  const ignore = (): void => {};
  process.on('SIGINT', ignore);
  return new Promise((done, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      process.off('SIGINT', ignore);
      if (code === 0) done();
      else reject(new FailedError('', { exitCode: code ?? 1 }));
    });
  });
}
