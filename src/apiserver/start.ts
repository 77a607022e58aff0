// Puts the API server together: store → caches → access → verbs → listener.
import { randomInt, randomUUID } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import type { Cidr } from '../ip/cidr.ts';
import type { PortRange } from '../ip/port-range.ts';
import { allKinds } from '../kinds/all.ts';
import { rbacGroup } from '../kinds/rbac/types.ts';
import type { KubeObject } from '../meta/object.ts';
import type { Log } from '../observe/log.ts';
import { createMetrics, type MetricsRegistry } from '../observe/metrics.ts';
import type { Store } from '../storage/store.ts';
import { isStoreError } from '../storage/store-error.ts';
import { createAuthenticator } from './access/authenticate.ts';
import { createAuthorizer } from './access/authorize.ts';
import { type BootstrapPolicy, bootstrapPolicy } from './access/bootstrap-policy.ts';
import { checkEscalation } from './access/escalation.ts';
import { createAdmission } from './admission/admission.ts';
import { chosenPlugins, type PluginChoice } from './admission/all.ts';
import type { PluginConfiguration } from './admission/configuration.ts';
import { defaultPodSecurity } from './admission/pod-security/configuration.ts';
import { createRangeIndex } from './allocators/address-ranges.ts';
import { ipAddressResource } from './allocators/cluster-ip.ts';
import { startNodePortRepair } from './allocators/keep-node-ports.ts';
import { createAllocatorMetrics } from './allocators/metrics.ts';
import { createNodePortView, type NodePortView } from './allocators/node-port-view.ts';
import { reserveService } from './allocators/reserve-service.ts';
import { followTakenAddresses } from './allocators/taken-addresses.ts';
import type { AuditLog } from './audit/audit-log.ts';
import { createAuditor } from './audit/auditor.ts';
import type { AuditPolicy } from './audit/policy.ts';
import { ensureAuthenticationConfig } from './authentication-config.ts';
import { bootstrap } from './bootstrap.ts';
import type { BootstrapObject } from './bootstrap-objects.ts';
import { createRequestCatchUp } from './catch-up.ts';
import type { Credentials } from './certificates/ensure-certificates.ts';
import { createNodeCredentials, type NodeTrust } from './certificates/node-credentials.ts';
import { checkSignerRights } from './certificates/signing/check-signer-rights.ts';
import { keepSigning } from './certificates/signing/keep-signing.ts';
import { longestCertificateMs } from './certificates/signing/sign-request.ts';
import { type ClusterAddressOptions, createClusterAddresses } from './cluster-addresses.ts';
import { ensureClusterInfo } from './cluster-info.ts';
import { startCompaction } from './compaction.ts';
import type { ApiContext } from './context.ts';
import { createDiscovery } from './discovery/discovery.ts';
import type { VirtualKind } from './discovery/served-kind.ts';
import { createDispatch } from './dispatch.ts';
import { listedCollections } from './empty-collections.ts';
import { createHandler, type Handler } from './handle.ts';
import { createHealth, withinTime } from './health.ts';
import { keepApiService } from './keep-api-service.ts';
import { createGate } from './limits/gate.ts';
import { defaultLimits, type Limits } from './limits/limits.ts';
import { createStreamCount } from './limits/stream-count.ts';
import { announceServer, onlyServer } from './live-servers.ts';
import {
  addProcessMetrics,
  createFlowMetrics,
  createRequestMetrics,
  createServerMetrics,
} from './metrics.ts';
import { createOpenApi } from './openapi/openapi.ts';
import { type Dial, dialPod } from './proxy/forward.ts';
import { guardDial } from './proxy/guard-dial.ts';
import { assertReadable, reportUnreadable } from './report-unreadable.ts';
import type { ResourceRequest } from './request-info.ts';
import { loadResources } from './resources.ts';
import type { ReviewParts } from './reviews/answer-review.ts';
import { type ServerOptions, startServer } from './server.ts';
import { defaultCompactionIntervalMs, startSharedCompaction } from './shared-compaction.ts';
import { createTokens, type TokenOptions } from './tokens/create-tokens.ts';
import { versionInfo } from './version.ts';
import { spokenKinds, virtualKinds } from './virtual-kinds.ts';
import { waitForObject } from './wait-for-object.ts';

export type ApiServerOptions = {
  readonly store: Store;
  readonly credentials: Credentials;
  readonly host: string;
  readonly port: number;
  /** What the `kubernetes` Service leads to. */
  readonly advertiseAddress: string;
  readonly serviceCidrs: readonly Cidr[];
  readonly nodePorts: PortRange;
  /** Node port of the `kubernetes` Service; absent: it has none. */
  readonly serviceNodePort?: number;
  /** Whether the endpoints of the `kubernetes` Service are this server's to keep; absent: they are. */
  readonly publishesEndpoints?: boolean;
  readonly packageVersion: string;
  readonly now: () => number;
  readonly log: Log;
  /** Where this server counts; parts in the same process may count there too. Absent: one of its own. */
  readonly metrics?: MetricsRegistry;
  readonly tokens?: TokenOptions;
  /** How long certificates are good that clients ask for; absent: a year. */
  readonly signingDurationMs?: number;
  /** Absent: those that are on by default. */
  readonly admissionPlugins?: PluginChoice;
  /** Settings of plugins; absent: their defaults. */
  readonly pluginConfiguration?: PluginConfiguration;
  /** Opens the proxy's connections to pods; absent: as the machine does. */
  readonly dial?: Dial;
  /** Whose certificates agents of nodes must serve with; absent: those that this cluster signed for the very node. */
  readonly nodeTrust?: NodeTrust;
  /** Opens connections to nodes, for addresses that nodes may have; absent: as to pods. */
  readonly dialNode?: Dial;
  /** Given the port, descriptors of sockets that listen elsewhere: what connects there is served as well. */
  readonly listenAlso?: (port: number) => readonly number[];
  readonly limits?: Limits;
  /** Absent: nothing is written down. */
  readonly audit?: { readonly policy: AuditPolicy; readonly log: AuditLog };
  /** Where several servers share the store. */
  readonly shared?: SharedStoreOptions;
};

export type SharedStoreOptions = {
  /** The name of its health check. */
  readonly engine: string;
  /** 0: somebody else compacts. */
  readonly compactionIntervalMs: number;
};

export type ApiServer = {
  readonly address: { readonly host: string; readonly port: number };
  /** For parts in the same process. */
  readonly handle: Handler;
  /** New connections see this certificate; those that are open stay as they are. */
  readonly useCertificates: (credentials: Credentials) => void;
  /** Tries again to read what is stored and could not be read, as when there are other keys. */
  readonly rereadStored: () => Promise<void>;
  /** Ends in order: requests under way finish, watches end. The store stays open. */
  readonly stop: () => Promise<void>;
};

export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { store, log } = options;
  const metrics = options.metrics ?? createMetrics();
  let { credentials } = options;
  let ownPort = options.port;
  const place = { certificate: () => credentials.server.certificate, port: () => ownPort };
  const access = await createContext({ ...options, metrics }, place);
  const { context, nodePorts } = access;
  reportUnreadable(context.resources, log);
  const handle = createHandle({ ...options, metrics }, access);
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
      ? onlyServer(facts.advertise)
      : await announceServer(store, facts.advertise, log);
  const { repair } = await bootstrap(
    context,
    facts,
    policyObjects(bootstrapPolicy()),
    servers,
  ).catch(async (error: unknown) => {
    await server.drain();
    // What must exist may be there and not be readable: then that is what somebody must act on.
    assertReadable(context.resources, error);
    throw error;
  });
  const { certificate } = options.credentials.authority;
  await ensureClusterInfo(context, facts.advertise, certificate);
  await ensureAuthenticationConfig(context, certificate);
  // History starts with a server that is ready: nobody can have seen what came before.
  if (isNew) {
    if (store.isSoleWriter) await store.compact(context.resources.revision());
    context.resources.forgetHistory();
  }
  const stopCompaction = startForgetting(options);
  const stopRepair = keepApiService({ context, servers, repair, log });
  const longestMs = options.signingDurationMs ?? longestCertificateMs;
  const stopSigning = keepSigning({ context, credentials: () => credentials, log, longestMs });
  const range = options.nodePorts;
  const stopNodePorts = startNodePortRepair({ context, nodePorts, range, log, metrics });
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
    },
  };
}

function startForgetting({ store, now, log, shared }: ApiServerOptions): () => void {
  const { compactionIntervalMs: intervalMs = defaultCompactionIntervalMs } = shared ?? {};
  return store.isSoleWriter
    ? startCompaction({ store, now, log })
    : startSharedCompaction({ store, intervalMs, log });
}

function tlsOf({ server, authority }: Credentials): ServerOptions['tls'] {
  return { key: server.privateKey, cert: server.certificate, ca: authority.certificate };
}

type MeasuredOptions = ApiServerOptions & { readonly metrics: MetricsRegistry };
type ServerParts = ReviewParts & { readonly nodePorts: NodePortView };

/** The caches filled from the store, and everything that decides with them. */
async function createContext(
  options: MeasuredOptions,
  place: Pick<ClusterAddressOptions, 'certificate' | 'port'>,
): Promise<ServerParts> {
  const { store, now } = options;
  const nodePorts = createNodePortView();
  const families = options.serviceCidrs.map(({ family }) => family);
  const resources = await loadResources(allKinds, store, nodePorts.apply, nodePorts.replace, {
    families,
  });
  nodePorts.load((await store.list(nodePorts.prefix)).entries);
  const { reader } = resources;
  const authorizer = createAuthorizer(reader);
  const tokens = createTokens(options.tokens ?? {}, { reader, now, log: options.log });
  const rangesOf = createRangeIndex(reader);
  const addresses = createClusterAddresses({
    ...{ reader, ...place, ownAddresses },
    serviceRanges: (family) => rangesOf(family).map(({ cidr }) => cidr),
  });
  const admission = createAdmission(chosenPlugins(options.admissionPlugins ?? {}), {
    ...{ reader, randomSuffix, addresses, podSecurity: defaultPodSecurity },
    ...{ clock: () => performance.now(), pause: setImmediate },
    waitFor: (object) => waitForObject(resources, object),
    ...options.pluginConfiguration,
  });
  const reserve = reserveService({
    reader,
    addresses: followTakenAddresses(resources.of(ipAddressResource).cache),
    nodePorts,
    config: { serviceCidrs: options.serviceCidrs, nodePortRange: options.nodePorts },
    metrics: createAllocatorMetrics(options.metrics, {
      reader,
      nodePorts,
      nodePortRange: options.nodePorts,
      ranges: () => [...rangesOf('IPv4'), ...rangesOf('IPv6')],
    }),
    now,
    newUid: randomUUID,
    random: (below) => randomInt(below),
  });
  const guarded = (dial: Dial): Dial =>
    guardDial({
      dial,
      isReserved: (address, port) =>
        addresses.isServer(address, port) || addresses.isServiceAddress(address),
    });
  const context: ApiContext = {
    store,
    resources,
    reserve: new Map([['services', reserve]]),
    now,
    newUid: randomUUID,
    randomSuffix,
    admission: {
      ...admission,
      mutate(request) {
        const after = admission.mutate(request);
        const admitted = after === request.after ? request : { ...request, after };
        checkSignerRights(admitted, authorizer);
        if (request.subresource === '' && request.definition.group === rbacGroup)
          checkEscalation({ authorizer, ...admitted });
        return after;
      },
    },
    tokens: tokens.issuer,
    dial: guarded(options.dial ?? dialPod),
    dialNode: guarded(options.dialNode ?? options.dial ?? dialPod),
    authorizer,
    addresses,
    tunnels: createStreamCount((options.limits ?? defaultLimits).maxTunnelsPerUser),
    nodeCredentials: createNodeCredentials(options.credentials, {
      now,
      ...(options.nodeTrust === undefined ? {} : { trust: options.nodeTrust }),
    }),
  };
  const authenticator = createAuthenticator({ tokens: tokens.authenticators, now });
  return { context, authorizer, authenticator, nodePorts };
}

function createHandle(options: MeasuredOptions, access: ReviewParts): Handler {
  const { store, now, log, metrics: registry } = options;
  const version = versionInfo({
    packageVersion: options.packageVersion,
    platform: process.platform,
    arch: process.arch,
    nodeVersion: process.version,
  });
  const listed = { definitions: [...allKinds, ...listedCollections], virtualKinds };
  const serverAddress = `${bracketed(options.advertiseAddress)}:${options.port}`;
  const dispatch = createDispatch({
    ...access,
    serverAddress,
    discovery: createDiscovery({ ...listed, serverAddress }),
    openApi: createOpenApi({ ...listed, spokenKinds, version: version.gitVersion }),
    health: createHealth([
      {
        name: options.shared?.engine ?? 'storage',
        kinds: ['livez'],
        check: () => withinTime(store.checkWrites().catch(ignoreFull)),
      },
      {
        // A server that cannot write is not ready; starting it again would not help, so it lives.
        name: options.shared?.engine ?? 'storage',
        kinds: ['healthz', 'readyz'],
        check: () => withinTime(store.checkWrites()),
      },
      {
        name: 'stored-objects',
        kinds: ['readyz'],
        check: () => assertReadable(access.context.resources),
      },
    ]),
    version: JSON.stringify(version),
    metricsText: registry.text,
  });
  addProcessMetrics(registry, Date.now() - performance.now());
  const { limits = defaultLimits, audit } = options;
  const metrics = createRequestMetrics({ registry, isServed: servedBy(access.context) });
  const gate = createGate(limits, createFlowMetrics(registry));
  const auditor = audit && createAuditor({ ...audit, metrics: registry, now });
  const catchUp = createRequestCatchUp(store);
  return createHandler({
    ...access,
    ...(catchUp === undefined ? {} : { catchUp }),
    ...{ dispatch, metrics, log, gate, requestTimeoutMs: limits.requestTimeoutMs },
    ...(auditor === undefined ? {} : { auditor }),
  });
}

function ignoreFull(error: unknown): void {
  if (!isStoreError(error, 'full')) throw error;
}

const bracketed = (address: string): string => (address.includes(':') ? `[${address}]` : address);

function servedBy({ resources }: ApiContext): (info: ResourceRequest) => boolean {
  return ({ group, version, resource: plural, subresource }) => {
    const found = resources.find(group, version, plural)?.definition.subresources;
    const isKnown = (kind: Pick<VirtualKind, 'group' | 'version' | 'plural'>): boolean =>
      kind.group === group && kind.version === version && kind.plural === plural;
    return subresource === ''
      ? resources.find(group, version, plural) !== undefined ||
          [...virtualKinds, ...listedCollections].some(isKnown)
      : (found?.some(({ name }) => name === subresource) ?? false);
  };
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

const ownAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));

/** Letters that make no words. */
const nameLetters = 'bcdfghjklmnpqrstvwxz2456789';

function randomSuffix(): string {
  return Array.from({ length: 5 }, () => nameLetters[randomInt(nameLetters.length)]).join('');
}
