// All parts on this machine.
import { relative } from 'node:path';
import { createLocalCall } from '../../apiserver/local-call.ts';
import { startControllers } from '../../controllers/run.ts';
import { type CommandDefinition, UsageError, type World } from '../command.ts';
import {
  addControllerFlags,
  type ControllerFlags,
  controllerSettings,
} from '../controller-flags.ts';
import { packageVersion } from '../package-version.ts';
import {
  addServerFlags,
  describeRanges,
  type ServerFlags,
  type StartedServer,
  startFromFlags,
} from '../server-flags.ts';

type UpFlags = ServerFlags & ControllerFlags & { readonly network: string };

export const up: CommandDefinition = {
  name: 'up',
  summary: 'run all parts on this machine',
  configure(command, world) {
    // A person reads this screen: only what someone must act on.
    addControllerFlags(addServerFlags(command, { bindAddress: '127.0.0.1', logLevel: 'error' }))
      .option('--network <mode>', 'none: API server and controllers only', 'none')
      .action(async (flags: UpFlags) => run(flags, world));
  },
};

async function run(flags: UpFlags, world: World): Promise<void> {
  if (flags.network !== 'none') {
    throw new UsageError(
      `Cannot start the network "${flags.network}": this version has only --network none, the API server and controllers.`,
    );
  }
  const started = await startFromFlags(flags, world);
  const controllers = new AbortController();
  const call = createLocalCall(started.server.handle, {
    user: 'system:kube-controller-manager',
    groups: ['system:masters'],
  });
  const running = startControllers({
    transport: { send: call, close: () => Promise.resolve() },
    log: started.log,
    authorityCertificate: started.credentials.authority.certificate,
    metrics: started.metrics,
    controllers: flags.controllers,
    settings: controllerSettings(flags),
    signal: controllers.signal,
  });
  world.write(screen(flags, started, world));
  await new Promise<void>((resolve) => {
    if (world.interrupted.aborted) resolve();
    world.interrupted.addEventListener('abort', () => resolve(), { once: true });
  });
  world.write('Ending: finishing requests under way...\n');
  controllers.abort();
  await running;
  await started.stop();
}

function screen(flags: UpFlags, { url, kubeconfig }: StartedServer, world: World): string {
  const took = Math.round(world.now() - world.startedAt);
  return `
  Fairlead ${packageVersion}, ready after ${took} ms

    API server   ${url}
    Data         ${flags.dataDir}
    Services     ${describeRanges(flags)}
    Network      none: API server and controllers only

  Use it from another terminal:

    export KUBECONFIG=${relative(world.cwd(), kubeconfig).startsWith('..') ? kubeconfig : relative(world.cwd(), kubeconfig)}
    kubectl get services --all-namespaces

  Ctrl-C ends it.

`;
}
