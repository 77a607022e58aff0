// `--network none`: API server and controllers only, for clusters without nodes or with nodes that join.
import { resolve } from 'node:path';
import { serviceAccountPlugin } from '../apiserver/admission/service-account.ts';
import { createLocalCall } from '../apiserver/local-call.ts';
import type { World } from '../flags/command.ts';
import { controllerSettings } from '../flags/controller-flags.ts';
import { packageVersion } from '../flags/package-version.ts';
import { describeRanges, type StartedServer, startFromFlags } from '../flags/server-flags.ts';
import { removeState, writeState } from '../flags/state-file.ts';
import { leadControllers } from './lead-controllers.ts';
import { renderScreen } from './screen.ts';
import { shownPath, untilInterrupted } from './terminal.ts';
import type { UpFlags } from './up-flags.ts';
import { visiblePid } from './visible-pid.ts';

/** `refusal`: why the isolated network could not be created. */
export async function runServerOnly(flags: UpFlags, world: World, refusal?: string): Promise<void> {
  const started = await startFromFlags(withoutAccounts(flags), world);
  const controllers = new AbortController();
  const call = createLocalCall(started.server.handle, {
    user: 'system:kube-controller-manager',
    groups: ['system:masters'],
  });
  const running = leadControllers(flags, {
    transport: { send: call, close: () => Promise.resolve() },
    log: started.log,
    authorityCertificate: started.credentials.authority.certificate,
    metrics: started.metrics,
    controllers: flags.controllers,
    settings: controllerSettings(flags),
    signal: controllers.signal,
  });
  const network = networkText(refusal);
  const dataDir = resolve(world.cwd(), flags.dataDir);
  writeState({
    ...{ pid: visiblePid(world.env), innerPid: process.pid, version: packageVersion, dataDir },
    ...{ startedAt: world.startedAt, network: 'none', networkText: network },
    ...{ url: started.url, kubeconfig: started.kubeconfig },
    ...{ nodes: [], dns: [], domain: '', relays: [] },
  });
  world.write(screen(flags, started, world, network));
  try {
    await Promise.race([untilInterrupted(world), started.gone]);
  } finally {
    controllers.abort();
    await running;
    await started.stop();
    removeState(dataDir);
  }
}

/** Without nodes no token is mounted: pods are stored as written, as in other API servers for tests. */
function withoutAccounts(flags: UpFlags): UpFlags {
  const plugin = serviceAccountPlugin.name;
  if (flags.enableAdmissionPlugins.includes(plugin)) return flags;
  return { ...flags, disableAdmissionPlugins: [...flags.disableAdmissionPlugins, plugin] };
}

function networkText(refusal: string | undefined): string {
  const only = 'API server and controllers only';
  if (refusal === undefined) return `none: ${only}`;
  return [
    `none, although one was requested: ${only}`,
    `reason: this machine does not permit namespaces (${refusal})`,
    'objects, Services, endpoints and addresses work; nodes, pods and DNS do not',
  ].join('\n');
}

function screen(
  flags: UpFlags,
  { url, kubeconfig }: StartedServer,
  world: World,
  network: string,
): string {
  return renderScreen({
    version: packageVersion,
    tookMs: world.now() - world.startedAt,
    lines: [
      { name: 'API server', text: url },
      { name: 'Data', text: flags.etcdServers?.join(', ') ?? flags.dataDir },
      { name: 'Services', text: describeRanges(flags) },
      { name: 'Network', text: network },
    ],
    kubeconfig: shownPath(kubeconfig, world),
    tries: ['kubectl get services --all-namespaces'],
  });
}
