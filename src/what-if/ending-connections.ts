// Connections that a change ends, and those that only get no company.
import { isServing } from '../kinds/endpoint-slice/conditions.ts';
import type { ModeTraits } from '../proxy/modes/mode.ts';
import { endpointsOf, type Moments, podOf, type ServiceKey } from './compare-service.ts';
import type { Moment } from './judge-port.ts';
import type { Connections, EndingPod, View } from './what-if.ts';

export function endingConnections(
  moments: Moments,
  key: ServiceKey,
  { views, traits }: { readonly views: readonly View[]; readonly traits: ModeTraits },
): Connections {
  const ends = endingPods(moments, key);
  const gone = new Set(ends.map(({ pod }) => pod));
  // What the kernel translates it goes on translating, until it ends; flows of UDP move, and relays end with their rules.
  const translated = views.filter(
    ({ protocol }) => protocol === 'TCP' && !traits.relayedProtocols.includes(protocol),
  );
  const shares = translated.flatMap(({ endpoints }) => endpoints);
  const used = new Set(shares.flatMap(({ pod, after }) => (after > 0 ? [pod] : [])));
  const stays = new Set(
    shares.flatMap(({ pod, before }) =>
      before > 0 && pod !== undefined && !used.has(pod) && !gone.has(pod) ? [pod] : [],
    ),
  );
  const affinitySeconds = affinityOf(moments.before, key);
  return {
    ends,
    stays: [...stays].sort(),
    ...(affinitySeconds === undefined || ends.length === 0 ? {} : { affinitySeconds }),
  };
}

/** Endpoints that could have connections, and whose pods are not there afterwards. */
function endingPods({ before, pods }: Moments, key: ServiceKey): readonly EndingPod[] {
  const found = new Map<string, EndingPod>();
  for (const endpoint of endpointsOf(before, key)) {
    const pod = podOf(endpoint, key);
    if (pod === undefined || !isServing(endpoint.conditions ?? {})) continue;
    const was = pods.gone.get(pod);
    if (was === undefined) continue;
    const { terminationGracePeriodSeconds: graceSeconds } = was.spec;
    found.set(pod, {
      pod,
      ...(endpoint.nodeName ? { node: endpoint.nodeName } : {}),
      ...(graceSeconds === undefined ? {} : { graceSeconds }),
    });
  }
  return [...found.values()].sort((a, b) => (a.pod < b.pod ? -1 : 1));
}

function affinityOf({ index }: Moment, { namespace, name }: ServiceKey): number | undefined {
  const spec = index.service(namespace, name)?.spec;
  return spec?.sessionAffinity === 'ClientIP'
    ? spec.sessionAffinityConfig?.clientIP?.timeoutSeconds
    : undefined;
}
