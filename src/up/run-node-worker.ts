// One node of the isolated network, in a thread of its own: steps into the node's namespace for good, then runs the proxy and the agent as
// `fairlead proxy` and `fairlead node` do, over HTTPS. Neither of them knows about namespaces.
import { parentPort, workerData } from 'node:worker_threads';
import type { KeyPair } from '../apiserver/certificates/x509.ts';
import { createHttpTransport } from '../client/http-transport.ts';
import { startAnnouncer } from '../cloud/announce/run.ts';
import { packageVersion } from '../flags/package-version.ts';
import { enterNamespace } from '../host/namespaces.ts';
import type { Pod } from '../kinds/pod/types.ts';
import { releaseVersion } from '../meta/release-version.ts';
import { createBridgeNetwork } from '../node/network/run-network.ts';
import { startNode } from '../node/run.ts';
import { createProcessRuntime } from '../node/runtimes/process/run-runtime.ts';
import { createLog } from '../observe/log.ts';
import { createMetrics } from '../observe/metrics.ts';
import { makeConfig } from '../proxy/config.ts';
import { allModes } from '../proxy/modes/all.ts';
import { startProxy } from '../proxy/run.ts';
import { type ChosenMode, NoModeError } from '../proxy/run-choose-mode.ts';
import { cleanUpModes } from '../proxy/run-cleanup.ts';
import type { FromNodeThread, NodeThreadOptions, ToNodeThread } from './node-messages.ts';
import { createRuleWatch } from './rule-watch.ts';

const port = parentPort;
if (port === null) throw new Error('this file is started as a worker');
const options = workerData as NodeThreadOptions;
const { name, addresses, credentials } = options;
// Before anything opens a socket.
if (options.namespacePath !== undefined) enterNamespace(options.namespacePath);

const tell = (message: FromNodeThread): void => port.postMessage(message);
const ending = new AbortController();
const rules = createRuleWatch((id) => tell({ kind: 'letGo', id }));
const waiting = new Map<number, () => void>();
let lastWait = 0;

/** A kubelet's. */
const agentPort = 10250;

port.on('message', (message: ToNodeThread) => {
  switch (message.kind) {
    case 'stop':
      ending.abort();
      for (const resolve of waiting.values()) resolve();
      return waiting.clear();
    case 'watch':
      return rules.watch(message.id, message.ips);
    case 'unwatch':
      return rules.unwatch(message.id);
    case 'released':
      waiting.get(message.id)?.();
      waiting.delete(message.id);
  }
});

run()
  .catch((error: unknown) => {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    tell({ kind: 'failed', message });
  })
  .finally(() => port.close());

async function run(): Promise<void> {
  const log = createLog(options.logLevel).with({ node: name });
  const agent = connection(credentials.agent);
  const proxy = connection(credentials.proxy);
  const signal = ending.signal;
  const caller = { transport: proxy, userAgent: `fairlead-proxy/${packageVersion}` };
  const proxying = startProxy(
    {
      caller,
      config: makeConfig(options.proxy, { nodeName: name }),
      modes: allModes,
      log,
      metrics: createMetrics(),
      chosen: (chosen) => tell({ kind: 'mode', mode: describeMode(chosen) }),
      applied: rules.applied,
    },
    signal,
  ).catch((error: unknown) => {
    if (!(error instanceof NoModeError)) throw error;
    // Pods, logs and names work without cluster IPs.
    log.error('no proxy on this node', { reason: error.message });
    tell({ kind: 'mode', mode: `none, cluster IPs do not work here: ${error.message}` });
  });
  const serving = serve(log, agent, caller, signal);
  // What breaks first ends the node; the other half must not be left running.
  const stopOnFailure = (error: unknown): never => {
    ending.abort();
    throw error;
  };
  try {
    await Promise.all([proxying.catch(stopOnFailure), serving.catch(stopOnFailure)]);
  } finally {
    await Promise.allSettled([proxying, serving]);
    if (options.cleansUp) await cleanUpModes(allModes, ['IPv4', 'IPv6'], log);
    await Promise.all([agent.close(), proxy.close()]);
  }
}

async function serve(
  log: ReturnType<typeof createLog>,
  transport: ReturnType<typeof createHttpTransport>,
  proxyCaller: Parameters<typeof createBridgeNetwork>[0]['caller'],
  signal: AbortSignal,
): Promise<void> {
  const { dataDirectory, authority } = options;
  const network = await createBridgeNetwork(
    { caller: proxyCaller, log, nodeName: name, nodeIPs: addresses },
    signal,
  );
  const node = await startNode(
    {
      caller: { transport, userAgent: `kubelet/fairlead-${packageVersion}` },
      log,
      name,
      nodeIPs: addresses,
      dataDirectory,
      keptPaths: options.keptPaths,
      runtime: await createProcessRuntime({
        images: options.images,
        directory: dataDirectory,
        hidden: options.keptPaths,
        now: Date.now,
        log,
        version: packageVersion,
        ...(options.maxPids === undefined ? {} : { maxPids: options.maxPids }),
      }),
      network,
      cluster: { nameservers: options.clusterDns, domain: options.clusterDomain },
      version: releaseVersion(packageVersion),
      serve: {
        host: '::',
        port: agentPort,
        tls: {
          key: credentials.serving.privateKey,
          cert: credentials.serving.certificate,
          clientAuthority: authority,
        },
      },
      released,
      shutdownGraceMs: options.shutdownGraceMs,
    },
    signal,
  );
  tell({ kind: 'ready' });
  await Promise.all([node.ended, announce(log, signal)]);
}

/** Answers on the lan for addresses of load balancers. Without it the node works all the same. */
async function announce(log: ReturnType<typeof createLog>, signal: AbortSignal): Promise<void> {
  if (!options.announces) return;
  const transport = connection(credentials.announcer);
  try {
    const caller = { transport, userAgent: `fairlead-announcer/${packageVersion}` };
    const { allowsForeignAddresses = false } = options.proxy;
    const metrics = createMetrics();
    await startAnnouncer({ caller, nodeName: name, log, metrics, allowsForeignAddresses }, signal);
  } catch (error) {
    log.warn('addresses of load balancers are not answered for', { error: String(error) });
  } finally {
    await transport.close();
  }
}

function describeMode({ mode, families, insteadOf }: ChosenMode): string {
  const works = `${mode.name} (${families.join(', ')})`;
  return insteadOf === undefined
    ? works
    : `${works} instead of ${insteadOf.mode}: ${insteadOf.reason}`;
}

/** The main thread knows the other nodes. Where this one ends as a whole, there is nothing to wait for. */
function released({ status }: Pod): Promise<void> {
  if (ending.signal.aborted) return Promise.resolve();
  const ips = (status?.podIPs ?? []).flatMap(({ ip }) => ip ?? []);
  lastWait += 1;
  const id = lastWait;
  tell({ kind: 'release', id, ips });
  return new Promise((resolve) => waiting.set(id, resolve));
}

function connection({ certificate, privateKey }: KeyPair): ReturnType<typeof createHttpTransport> {
  return createHttpTransport({
    server: options.server,
    namespace: 'default',
    certificateAuthority: options.authority,
    clientCertificate: certificate,
    clientKey: privateKey,
    skipTlsVerification: false,
  });
}
