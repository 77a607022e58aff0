// Starts the API server: store → caches → access → verbs → listener.
import type { KubeObject } from '../meta/object.ts';
import { createMetrics } from '../observe/metrics.ts';
import { ensureAuthenticationConfig } from './access/authentication-config.ts';
import { type BootstrapPolicy, bootstrapPolicy } from './access/bootstrap-policy.ts';
import { startNodePortRepair } from './allocators/run-node-port-repair.ts';
import { assertReadable, reportUnreadable } from './cache/report-unreadable.ts';
import type { Credentials } from './certificates/ensure-certificates.ts';
import { keepSigning } from './certificates/signing/keep-signing.ts';
import { maxCertificateMs } from './certificates/signing/sign-request.ts';
import { startCompaction } from './compaction/compaction.ts';
import {
  defaultCompactionIntervalMs,
  startSharedCompaction,
} from './compaction/shared-compaction.ts';
import type { ApiContext } from './context.ts';
import { createContext } from './create-context.ts';
import { createRequestHandler } from './create-request-handler.ts';
import type { Handler } from './handle.ts';
import { type History, startHistory } from './history/start-history.ts';
import { bootstrap } from './kubernetes-service/bootstrap.ts';
import { ensureClusterInfo } from './kubernetes-service/cluster-info.ts';
import type { BootstrapObject } from './kubernetes-service/objects.ts';
import { singleServer, startServerLease } from './kubernetes-service/server-leases.ts';
import { startServiceReconciler } from './kubernetes-service/service-reconciler.ts';
import { defaultLimits } from './limits/limits.ts';
import { type ServerOptions, startServer } from './listen/server.ts';
import { createServerMetrics } from './metrics.ts';
import type { ApiServerOptions } from './options.ts';

export type ApiServer = {
  readonly address: { readonly host: string; readonly port: number };
  /** For parts in the same process. */
  readonly handle: Handler;
  /** New connections get this certificate; open ones are not affected. */
  readonly useCertificates: (credentials: Credentials) => void;
  /** Reads unreadable objects again, as after a change of encryption keys. */
  readonly rereadStored: () => Promise<void>;
  /** Graceful: requests under way finish, watches end. The store stays open. */
  readonly stop: () => Promise<void>;
};

export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { store, log } = options;
  const metrics = options.metrics ?? createMetrics();
  let { credentials } = options;
  let ownPort = options.port;
  const listener = { certificate: () => credentials.server.certificate, port: () => ownPort };
  const access = await createContext({ ...options, metrics }, listener);
  const { context, nodePorts } = access;
  reportUnreadable(context.resources, log);
  const handle = createRequestHandler({ ...options, metrics }, access);
  const isNew = context.resources.reader.get('namespaces', '', 'default') === undefined;
  const server = await startServer({
    host: options.host,
    port: options.port,
    tls: tlsOf(options.credentials),
    handle,
    log,
    limits: options.limits ?? defaultLimits,
    metrics: createServerMetrics(metrics),
    ...(options.listenAlso === undefined ? {} : { listenAlso: options.listenAlso }),
  });
  ownPort = server.address.port;
  const facts = {
    serviceCidrs: options.serviceCidrs,
    advertise: { address: options.advertiseAddress, port: server.address.port },
    ...(options.serviceNodePort === undefined ? {} : { serviceNodePort: options.serviceNodePort }),
    publishesEndpoints: options.publishesEndpoints ?? true,
  };
  const servers =
    store.isSoleWriter || !facts.publishesEndpoints
      ? singleServer(facts.advertise)
      : await startServerLease(store, facts.advertise, log);
  const { repair } = await bootstrap(
    context,
    facts,
    policyObjects(bootstrapPolicy()),
    servers,
  ).catch(async (error: unknown) => {
    await server.drain();
    // A required object may exist and be unreadable: then that is the error to act on.
    assertReadable(context.resources, error);
    throw error;
  });
  const { certificate } = options.credentials.authority;
  await ensureClusterInfo(context, facts.advertise, certificate);
  await ensureAuthenticationConfig(context, certificate);
  // The history starts with a server that is ready: no client can have read an earlier revision.
  if (isNew) {
    if (store.isSoleWriter) await store.compact(context.resources.revision());
    context.resources.forgetHistory();
  }
  const history = await recordHistory(options, context);
  const stopCompaction = startCompactor(options);
  const stopRepair = startServiceReconciler({ context, servers, repair, log });
  const maxMs = options.signingDurationMs ?? maxCertificateMs;
  const stopSigning = keepSigning({ context, credentials: () => credentials, log, maxMs });
  const stopNodePorts = startNodePortRepair({
    ...{ context, nodePorts, log, metrics },
    range: options.nodePorts,
  });
  return {
    address: server.address,
    handle,
    useCertificates(renewed) {
      credentials = renewed;
      server.useCertificate(tlsOf(renewed));
    },
    async rereadStored() {
      await context.resources.rereadUnreadable();
      reportUnreadable(context.resources, log);
    },
    async stop() {
      await stopSigning();
      await stopRepair();
      stopCompaction();
      await stopNodePorts();
      await server.drain();
      await history?.close();
    },
  };
}

async function recordHistory(
  { history, now, log }: ApiServerOptions,
  context: ApiContext,
): Promise<History | undefined> {
  if (history === undefined) return undefined;
  context.history = await startHistory({ ...history, resources: context.resources, now, log });
  return context.history;
}

function startCompactor({ store, now, log, shared }: ApiServerOptions): () => void {
  const { compactionIntervalMs: intervalMs = defaultCompactionIntervalMs } = shared ?? {};
  return store.isSoleWriter
    ? startCompaction({ store, now, log })
    : startSharedCompaction({ store, intervalMs, log });
}

function tlsOf({ server, authority }: Credentials): ServerOptions['tls'] {
  return { key: server.privateKey, cert: server.certificate, ca: authority.certificate };
}

function policyObjects(policy: BootstrapPolicy): readonly BootstrapObject[] {
  const of = (plural: string, objects: readonly KubeObject[]): readonly BootstrapObject[] =>
    objects.map((body) => ({
      resource: `${plural}.rbac.authorization.k8s.io`,
      namespace: body.metadata.namespace ?? '',
      body: { ...body, metadata: { ...body.metadata, name: body.metadata.name ?? '' } },
    }));
  return [
    ...of('clusterroles', policy.clusterRoles),
    ...of('clusterrolebindings', policy.clusterRoleBindings),
    ...of('roles', policy.roles),
    ...of('rolebindings', policy.roleBindings),
  ];
}
