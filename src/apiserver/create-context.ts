// Fills the caches from the store and creates what depends on them: access control, admission, allocators, tokens.
import { randomInt, randomUUID } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { allKinds } from '../kinds/all.ts';
import { rbacGroup } from '../kinds/rbac/types.ts';
import type { MetricsRegistry } from '../observe/metrics.ts';
import { createAuthenticator } from './access/authenticate.ts';
import { createAuthorizer } from './access/authorize.ts';
import { checkEscalation } from './access/escalation.ts';
import { createAdmission } from './admission/admission.ts';
import { chosenPlugins } from './admission/all.ts';
import { defaultPodSecurity } from './admission/pod-security/configuration.ts';
import { createRangeIndex } from './allocators/address-ranges.ts';
import { followAllocatedAddresses } from './allocators/allocated-addresses.ts';
import { ipAddressResource } from './allocators/cluster-ip.ts';
import { createAllocatorMetrics } from './allocators/metrics.ts';
import { createNodePortView, type NodePortView } from './allocators/node-port-view.ts';
import { reserveService } from './allocators/reserve-service.ts';
import { followNamespaces } from './cache/follow-namespaces.ts';
import { loadResources } from './cache/resources.ts';
import { waitForObject } from './cache/wait-for-object.ts';
import { createNodeCredentials } from './certificates/node-credentials.ts';
import { checkSignerRights } from './certificates/signing/check-signer-rights.ts';
import type { ApiContext } from './context.ts';
import {
  type ClusterAddressOptions,
  createClusterAddresses,
} from './kubernetes-service/cluster-addresses.ts';
import { defaultLimits } from './limits/limits.ts';
import { createStreamCount } from './limits/stream-count.ts';
import type { ApiServerOptions } from './options.ts';
import { createPartsChannel } from './parts/channel.ts';
import { maxOpenRows } from './parts/list-traffic.ts';
import { noPeers } from './parts/peers.ts';
import { createSharedQuestions } from './parts/shared-questions.ts';
import { type Dial, dialPod } from './proxy/forward.ts';
import { guardDial } from './proxy/guard-dial.ts';
import { createQuotas } from './quota/charge.ts';
import type { ReviewParts } from './reviews/answer-review.ts';
import { createTokens } from './tokens/create-tokens.ts';

export type MeasuredOptions = ApiServerOptions & { readonly metrics: MetricsRegistry };
export type ServerParts = ReviewParts & { readonly nodePorts: NodePortView };

export async function createContext(
  options: MeasuredOptions,
  listener: Pick<ClusterAddressOptions, 'certificate' | 'port'>,
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
    ...{ reader, ...listener, ownAddresses },
    serviceRanges: (family) => rangesOf(family).map(({ cidr }) => cidr),
  });
  const limitRangesOf = followNamespaces(resources.of('limitranges').cache);
  const quotas = createQuotas(followNamespaces(resources.of('resourcequotas').cache));
  const admission = createAdmission(chosenPlugins(options.admissionPlugins ?? {}), {
    ...{ reader, randomSuffix, addresses, podSecurity: defaultPodSecurity },
    ...{ limitRangesOf, quotas },
    ...{ clock: () => performance.now(), pause: setImmediate },
    waitFor: (object) => waitForObject(resources, object),
    ...options.pluginConfiguration,
  });
  const reserve = reserveService({
    reader,
    addresses: followAllocatedAddresses(resources.of(ipAddressResource).cache),
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
  const guarded = guard(addresses);
  const context: ApiContext = {
    store,
    resources,
    reserve: new Map([['services', reserve]]),
    quotas,
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
    partsChannel: createPartsChannel({
      newToken: randomUUID,
      maxPerUser: (options.limits ?? defaultLimits).maxWatchesPerUser,
    }),
    peers: noPeers,
    trafficQuestions: createSharedQuestions(maxOpenRows),
    nodeCredentials: createNodeCredentials(options.credentials, {
      now,
      ...(options.nodeTrust === undefined ? {} : { trust: options.nodeTrust }),
    }),
  };
  const authenticator = createAuthenticator({ tokens: tokens.authenticators, now });
  return { context, authorizer, authenticator, nodePorts };
}

/** Dials that do not lead to the cluster itself. */
const guard =
  (addresses: ReturnType<typeof createClusterAddresses>) =>
  (dial: Dial): Dial =>
    guardDial({
      dial,
      isReserved: (address, port) =>
        addresses.isServer(address, port) || addresses.isServiceAddress(address),
    });

const ownAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));

/** Without vowels, so that no words appear (upstream: util/rand). */
const nameLetters = 'bcdfghjklmnpqrstvwxz2456789';

function randomSuffix(): string {
  return Array.from({ length: 5 }, () => nameLetters[randomInt(nameLetters.length)]).join('');
}
