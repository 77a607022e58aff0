// One service port: its own chains, and its rules in the lists that all services share.
import type { LocalTraffic, ServicePort } from '../../model/state.ts';
import { type DispatchEntry, type DispatchList, dispatchLists } from './dispatch.ts';
import { type EndpointOptions, endpointChains, spreadRules } from './endpoint-rules.ts';
import { canonicalRange, hostRange, type RuleContext } from './layout.ts';
import { chainNames, displayName, portChainNames } from './names.ts';
import type { Chain, Rule, Target } from './rules.ts';

/** Its chains, what they lead to first. */
export function portChains(port: ServicePort, context: RuleContext): readonly Chain[] {
  if (!port.hasEndpoints) return [];
  const names = portChainNames(port);
  const options = { port, names, context };
  const isExternal = hasExternal(port);
  const isLocal =
    port.internalPolicy === 'Local' || (isExternal && port.externalPolicy === 'Local');
  // Policy Local uses the cluster's endpoints too: for what starts on this node (KPX-17).
  const isCluster = isExternal || port.internalPolicy === 'Cluster';
  const cluster = isCluster ? port.clusterEndpoints : [];
  const local = isLocal ? port.localEndpoints : [];
  const chain = (name: string, rules: readonly Rule[]): Chain => ({ table: 'nat', name, rules });
  const spread = (policy: ServicePort['internalPolicy']): readonly Rule[] => [
    ...(port.internalPolicy === policy ? masqueradeInternal(options) : []),
    ...spreadRules(policy === 'Cluster' ? cluster : local, options),
  ];
  return [
    ...endpointChains([...cluster, ...local], options),
    ...(cluster.length > 0 ? [chain(names.cluster, spread('Cluster'))] : []),
    ...(local.length > 0 ? [chain(names.local, spread('Local'))] : []),
    ...(isExternal ? [chain(names.external, externalRules(options))] : []),
    ...(isFirewalled(port) ? [chain(names.firewall, firewallRules(options))] : []),
  ];
}

/** Its rules in the lists that all services share. */
export function portEntries(port: ServicePort, context: RuleContext): readonly DispatchEntry[] {
  const options = { port, names: portChainNames(port), context };
  return [
    ...clusterEntries(options),
    ...externalEntries(options),
    ...nodePortEntries(options),
    ...healthCheckEntries(options),
  ];
}

function hasExternal({ nodePort, externalIPs, loadBalancerIPs }: ServicePort): boolean {
  return nodePort !== undefined || externalIPs.length > 0 || loadBalancerIPs.length > 0;
}

/** Without endpoints packets of all senders are rejected, so that source ranges need no chain (IPT-10). */
function isFirewalled({ hasEndpoints, loadBalancerIPs, sourceRanges }: ServicePort): boolean {
  return hasEndpoints && loadBalancerIPs.length > 0 && sourceRanges !== undefined;
}

/** Traffic to a cluster IP that does not come from a pod (KPX-20). */
function masqueradeInternal({ port, context }: EndpointOptions): readonly Rule[] {
  const { localTraffic, masqueradeAll } = context.node;
  if (port.clusterIP === undefined || (!masqueradeAll && localTraffic.kind === 'unknown'))
    return [];
  return [
    {
      ...(masqueradeAll ? {} : fromPods(localTraffic, true)),
      destination: { range: hostRange(port.clusterIP) },
      ...onPort(port, port.port),
      ...say(`${displayName(port)} cluster IP`, context),
      target: { kind: 'jump', chain: chainNames.markMasquerade },
    },
  ];
}

/** Policy Cluster masquerades everything; under policy Local only what starts here may leave the node (KPX-15, KPX-17, KPX-18). */
function externalRules({ port, names, context }: EndpointOptions): readonly Rule[] {
  const name = displayName(port);
  const jump = (chain: string): Pick<Rule, 'target'> => ({ target: { kind: 'jump', chain } });
  if (port.externalPolicy === 'Cluster') {
    const comment = say(`masquerade traffic for ${name} external destinations`, context);
    return [
      { ...comment, ...jump(chainNames.markMasquerade) },
      ...(port.clusterEndpoints.length > 0 ? [jump(names.cluster)] : []),
    ];
  }
  const inside: Rule[] = [];
  if (port.clusterEndpoints.length > 0) {
    const { localTraffic } = context.node;
    if (localTraffic.kind !== 'unknown') {
      const comment = say(`pod traffic for ${name} external destinations`, context);
      inside.push({ ...fromPods(localTraffic), ...comment, ...jump(names.cluster) });
    }
    inside.push(
      {
        ...say(`masquerade LOCAL traffic for ${name} external destinations`, context),
        local: 'source',
        ...jump(chainNames.markMasquerade),
      },
      {
        ...say(`route LOCAL traffic for ${name} external destinations`, context),
        local: 'source',
        ...jump(names.cluster),
      },
    );
  }
  return [...inside, ...(port.localEndpoints.length > 0 ? [jump(names.local)] : [])];
}

/** KPX-28, KPX-29: who falls through here is dropped in the filter table, where that is allowed. */
function firewallRules({ port, names, context }: EndpointOptions): readonly Rule[] {
  const comment = say(`${displayName(port)} loadbalancer IP`, context);
  const ranges = [
    ...(port.sourceRanges ?? []).map(canonicalRange),
    ...(port.allowsBalancerItself ? port.loadBalancerIPs.map(hostRange) : []),
  ];
  return [...new Set(ranges)].map((range) => ({
    source: { range },
    ...comment,
    target: { kind: 'jump', chain: names.external },
  }));
}

function clusterEntries({ port, names, context }: EndpointOptions): readonly DispatchEntry[] {
  const { clusterIP, internalPolicy } = port;
  if (clusterIP === undefined) return [];
  const isLocal = internalPolicy === 'Local';
  const endpoints = isLocal ? port.localEndpoints : port.clusterEndpoints;
  if (port.hasEndpoints && endpoints.length > 0) {
    const target = { kind: 'jump', chain: isLocal ? names.local : names.cluster } as const;
    const comment = say(`${displayName(port)} cluster IP`, context);
    return [entryAt(dispatchLists.services, clusterIP, { port, comment, target })];
  }
  return [entryAt(dispatchLists.refusedServices, clusterIP, { port, ...refusal(port, context) })];
}

function externalEntries({ port, names, context }: EndpointOptions): readonly DispatchEntry[] {
  const refuses = !hasExternalEndpoints(port);
  const entries: DispatchEntry[] = [];
  const capture = (ip: string, what: string, chain: string): void => {
    if (port.hasEndpoints) {
      const comment = say(`${displayName(port)} ${what}`, context);
      const target = { kind: 'jump', chain } as const;
      entries.push(entryAt(dispatchLists.services, ip, { port, comment, target }));
    }
    if (refuses) {
      entries.push(
        entryAt(dispatchLists.refusedExternals, ip, { port, ...refusal(port, context) }),
      );
    }
  };
  const isGuarded = isFirewalled(port);
  for (const ip of port.externalIPs) capture(ip, 'external IP', names.external);
  for (const ip of port.loadBalancerIPs) {
    capture(ip, 'loadbalancer IP', isGuarded ? names.firewall : names.external);
    if (!isGuarded) continue;
    const comment = say(`${displayName(port)} traffic not accepted by ${names.firewall}`, context);
    entries.push(entryAt(dispatchLists.firewall, ip, { port, comment, target: { kind: 'drop' } }));
  }
  return entries;
}

function nodePortEntries({ port, names, context }: EndpointOptions): readonly DispatchEntry[] {
  const { nodePort, protocol } = port;
  if (nodePort === undefined) return [];
  const at = { protocol, port: nodePort };
  const matches = onPort(port, nodePort);
  const entries: DispatchEntry[] = [];
  if (port.hasEndpoints) {
    const comment = say(displayName(port), context);
    const target = { kind: 'jump', chain: names.external } as const;
    entries.push({ list: dispatchLists.nodePorts, at, rule: { ...matches, ...comment, target } });
  }
  if (!hasExternalEndpoints(port)) {
    const { comment, target } = refusal(port, context);
    const rule = { ...matches, ...comment, target };
    entries.push({ list: dispatchLists.closedNodePorts, at, rule });
  }
  return entries;
}

/** Health checks of balancers are accepted (IPT-08). */
function healthCheckEntries({ port, context }: EndpointOptions): readonly DispatchEntry[] {
  if (port.healthCheckNodePort === undefined) return [];
  const at = { protocol: 'TCP', port: port.healthCheckNodePort } as const;
  const comment = say(`${displayName(port)} health check node port`, context);
  const rule: Rule = {
    ...onPort({ protocol: 'TCP' }, at.port),
    ...comment,
    target: { kind: 'accept' },
  };
  return [{ list: dispatchLists.healthChecks, at, rule }];
}

function hasExternalEndpoints(port: ServicePort): boolean {
  const { externalPolicy, localEndpoints, clusterEndpoints } = port;
  return (externalPolicy === 'Local' ? localEndpoints : clusterEndpoints).length > 0;
}

type EntryOptions = {
  readonly port: ServicePort;
  readonly comment: Pick<Rule, 'comment'>;
  readonly target: Target;
};

function entryAt(list: DispatchList, ip: string, options: EntryOptions): DispatchEntry {
  const { port, comment, target } = options;
  const destination = { range: hostRange(ip) };
  return {
    list,
    at: { ip },
    rule: { destination, ...onPort(port, port.port), ...comment, target },
  };
}

/** IPT-06: rejected if there is no endpoint at all. With endpoints on other nodes only, dropped: a local one may be back soon. */
function refusal(
  port: ServicePort,
  context: RuleContext,
): { readonly comment: Pick<Rule, 'comment'>; readonly target: Target } {
  return port.hasEndpoints
    ? {
        comment: say(`${displayName(port)} has no local endpoints`, context),
        target: { kind: 'drop' },
      }
    : {
        comment: say(`${displayName(port)} has no endpoints`, context),
        target: { kind: 'reject' },
      };
}

function onPort(
  { protocol }: Pick<ServicePort, 'protocol'>,
  port: number,
): Pick<Rule, 'protocol' | 'destinationPorts'> {
  return { protocol, destinationPorts: { first: port, last: port } };
}

/** The match for traffic of pods, by range or by interface (KPX-22). */
function fromPods(local: LocalTraffic, isNegated = false): Pick<Rule, 'source' | 'inputInterface'> {
  const not = isNegated ? ({ isNot: true } as const) : {};
  switch (local.kind) {
    case 'unknown':
      return {};
    case 'cidr':
      return { source: { range: canonicalRange(local.cidr), ...not } };
    case 'interface':
      return { inputInterface: { pattern: local.name, ...not } };
    case 'interface-prefix':
      return { inputInterface: { pattern: `${local.prefix}+`, ...not } };
  }
}

function say(comment: string, { layout }: RuleContext): Pick<Rule, 'comment'> {
  return layout.hasComments ? { comment } : {};
}
