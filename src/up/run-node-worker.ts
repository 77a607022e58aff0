// The worker thread of one node: enters the node's network namespace, then runs the proxy and the agent over HTTPS as `fairlead proxy`
// and `fairlead node` do. Neither of them knows about namespaces.
import { parentPort, workerData } from 'node:worker_threads';
import type { KeyPair } from '../apiserver/certificates/x509.ts';
import { createHttpTransport } from '../client/http-transport.ts';
import { startAnnouncer } from '../cloud/announce/run.ts';
import { packageVersion } from '../flags/package-version.ts';
import { enterNamespace } from '../host/namespaces.ts';
import { openImageStore } from '../images/open-image-store.ts';
import { releaseVersion } from '../meta/release-version.ts';
import { createBridgeNetwork } from '../node/network/run-network.ts';
import { startNode } from '../node/run.ts';
import { createOciRuntime } from '../node/runtimes/oci/run-runtime.ts';
import { createLog } from '../observe/log.ts';
import { createMetrics } from '../observe/metrics.ts';
import { makeConfig } from '../proxy/config.ts';
import { loadAllModes } from '../proxy/modes/all.ts';
import { startProxy } from '../proxy/run.ts';
import { type ChosenMode, NoModeError } from '../proxy/run-choose-mode.ts';
import { cleanUpModes } from '../proxy/run-cleanup.ts';
import { forwardPulls } from './forward-pulls.ts';
import type { FromNodeThread, NodeThreadOptions, ToNodeThread } from './node-messages.ts';

const port = parentPort;
if (port === null) throw new Error('this file must be started as a worker');
const options = workerData as NodeThreadOptions;
const { name, addresses, credentials } = options;
// Before anything opens a socket.
if (options.namespacePath !== undefined) enterNamespace(options.namespacePath);

const post = (message: FromNodeThread): void => port.postMessage(message);
const shutdown = new AbortController();

/** The default port of the kubelet. */
const agentPort = 10250;

/** Gets what the main thread says of pulls, once there are images. */
let receivePull = (_: ToNodeThread): void => {};

port.on('message', (message: ToNodeThread) => {
  if (message.kind === 'stop') shutdown.abort();
  else receivePull(message);
});

run()
  .catch((error: unknown) => {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    post({ kind: 'failed', message });
  })
  .finally(() => port.close());

async function run(): Promise<void> {
  const log = createLog(options.logLevel).with({ node: name });
  const agent = connection(credentials.agent);
  const proxy = connection(credentials.proxy);
  const signal = shutdown.signal;
  const caller = { transport: proxy, userAgent: `fairlead-proxy/${packageVersion}` };
  const modes = await loadAllModes();
  const proxying = startProxy(
    {
      caller,
      config: makeConfig(options.proxy, { nodeName: name }),
      modes,
      log,
      metrics: createMetrics(),
      chosen: (chosen) => post({ kind: 'mode', mode: describeMode(chosen) }),
    },
    signal,
  ).catch((error: unknown) => {
    if (!(error instanceof NoModeError)) throw error;
    // Pods, logs and DNS work without cluster IPs.
    log.error('Failed to start proxy, cluster IPs do not work on this node', {
      error: error.message,
    });
    post({ kind: 'mode', mode: `none, cluster IPs do not work here: ${error.message}` });
  });
  const serving = serve(log, agent, caller, signal);
  // The first failure ends the node; the other half must not be left running.
  const stopOnFailure = (error: unknown): never => {
    shutdown.abort();
    throw error;
  };
  try {
    await Promise.all([proxying.catch(stopOnFailure), serving.catch(stopOnFailure)]);
  } finally {
    await Promise.allSettled([proxying, serving]);
    if (options.cleansUp) await cleanUpModes(modes, ['IPv4', 'IPv6'], log);
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
  const images = await openImageStore({ directory: options.imageDirectory, log });
  const forwarded = forwardPulls(images, post);
  receivePull = forwarded.receive;
  const { maxParallelPulls, imageCollection: collection } = options;
  const node = await startNode(
    {
      caller: { transport, userAgent: `kubelet/fairlead-${packageVersion}` },
      log,
      name,
      nodeIPs: addresses,
      dataDirectory,
      privatePaths: options.privatePaths,
      runtime: await createOciRuntime({
        images: options.images,
        directory: dataDirectory,
        privatePaths: options.privatePaths,
        now: Date.now,
        log,
        version: packageVersion,
        ...(options.maxPids === undefined ? {} : { maxPids: options.maxPids }),
      }),
      images: {
        ...{ store: forwarded.store, collection },
        ...(maxParallelPulls === undefined ? {} : { maxParallelPulls }),
      },
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
      shutdownGraceMs: options.shutdownGraceMs,
    },
    signal,
  );
  post({ kind: 'ready' });
  await Promise.all([node.ended, announce(log, signal)]);
  await images.close();
}

/** Announces addresses of load balancers on the LAN. The node also works without it. */
async function announce(log: ReturnType<typeof createLog>, signal: AbortSignal): Promise<void> {
  if (!options.announces) return;
  const transport = connection(credentials.announcer);
  try {
    const caller = { transport, userAgent: `fairlead-announcer/${packageVersion}` };
    const { allowsForeignAddresses = false } = options.proxy;
    const metrics = createMetrics();
    await startAnnouncer({ caller, nodeName: name, log, metrics, allowsForeignAddresses }, signal);
  } catch (error) {
    log.warn('Announcer failed, addresses of load balancers are not announced', {
      error: String(error),
    });
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
