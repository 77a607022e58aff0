// What has to change at a classic balancer.
import type {
  ClassicAttributes,
  ClassicFound,
  ClassicListener,
  ClassicWanted,
} from './balancer.ts';
import type { ClassicChange, ClassicPolicy } from './changes.ts';
import { agrees, missingTags, sameMembers, sameText, without } from './differences.ts';
import type { Tags } from './names.ts';

export type ClassicDiffInput = {
  readonly name: string;
  readonly tags: Tags;
  readonly balancer: ClassicWanted;
  readonly groupIds: readonly string[];
};

export function diffClassic(
  input: ClassicDiffInput,
  found: ClassicFound | undefined,
): readonly ClassicChange[] {
  const { name, tags, balancer, groupIds } = input;
  if (found === undefined) {
    return [{ kind: 'createClassic', name, wanted: balancer, groupIds, tags }];
  }
  return [
    ...diffSettings(input, found),
    ...diffSubnets(name, balancer, found),
    ...diffListeners(name, balancer, found),
    ...diffPolicies(name, balancer, found),
    ...diffInstances(name, balancer, found),
  ];
}

function diffSettings(
  { name, tags, balancer, groupIds }: ClassicDiffInput,
  found: ClassicFound,
): ClassicChange[] {
  const changes: ClassicChange[] = [];
  const { healthTarget: target, healthCheck: times, attributes } = balancer;
  const missing = missingTags(tags, found.tags);
  if (missing !== undefined) changes.push({ kind: 'tagClassic', name, tags: missing });
  if (!sameMembers(groupIds, found.groupIds)) changes.push({ kind: 'setGroups', name, groupIds });
  if (target !== found.healthTarget || !agrees(times, found.healthCheck)) {
    changes.push({ kind: 'checkHealth', name, target, times });
  }
  if (!sameAttributes(attributes, found.attributes)) {
    changes.push({ kind: 'setClassicAttributes', name, attributes });
  }
  return changes;
}

function sameAttributes(wanted: ClassicAttributes, found: ClassicAttributes): boolean {
  return (
    wanted.idleSeconds === found.idleSeconds &&
    wanted.isCrossZone === found.isCrossZone &&
    wanted.drainingSeconds === found.drainingSeconds &&
    wanted.accessLog.isEnabled === found.accessLog.isEnabled &&
    agrees(wanted.accessLog, found.accessLog)
  );
}

/** AWS takes one subnet of each zone: the old one goes first. */
function diffSubnets(name: string, wanted: ClassicWanted, found: ClassicFound): ClassicChange[] {
  const missing = without(wanted.subnetIds, found.subnetIds);
  const left = without(found.subnetIds, wanted.subnetIds);
  return [
    ...(left.length === 0 ? [] : [{ kind: 'detachSubnets' as const, name, subnetIds: left }]),
    ...(missing.length === 0 ? [] : [{ kind: 'attachSubnets' as const, name, subnetIds: missing }]),
  ];
}

function diffListeners(name: string, wanted: ClassicWanted, found: ClassicFound): ClassicChange[] {
  const foundByPort = new Map(found.listeners.map((listener) => [listener.port, listener]));
  const wantedByPort = new Map(wanted.listeners.map((listener) => [listener.port, listener]));
  const isKept = (port: number): boolean => {
    const [a, b] = [wantedByPort.get(port), foundByPort.get(port)];
    return a !== undefined && b !== undefined && sameExceptCertificate(a, b);
  };
  const ports = [...foundByPort.keys()].filter((port) => !isKept(port));
  const listeners = wanted.listeners.filter(({ port }) => !isKept(port));
  const certificates = wanted.listeners.flatMap(({ port, certificate }): ClassicChange[] => {
    const isOther = !sameText(certificate, foundByPort.get(port)?.certificate);
    if (certificate === undefined || !isKept(port) || !isOther) return [];
    return [{ kind: 'setCertificate', name, port, certificate }];
  });
  return [
    ...certificates,
    ...(ports.length === 0 ? [] : [{ kind: 'deleteListeners' as const, name, ports }]),
    ...(listeners.length === 0 ? [] : [{ kind: 'createListeners' as const, name, listeners }]),
  ];
}

function sameExceptCertificate(a: ClassicListener, b: ClassicListener): boolean {
  return (
    a.protocol === b.protocol &&
    a.instancePort === b.instancePort &&
    a.instanceProtocol === b.instanceProtocol
  );
}

const proxyProtocolPolicy: ClassicPolicy = {
  name: 'k8s-proxyprotocol-enabled',
  type: 'ProxyProtocolPolicyType',
  attribute: 'ProxyProtocol',
  value: 'true',
};

const sslPolicyOf = (reference: string): ClassicPolicy => ({
  name: `k8s-SSLNegotiationPolicy-${reference}`,
  type: 'SSLNegotiationPolicyType',
  attribute: 'Reference-Security-Policy',
  value: reference,
});

/** Policies are made before they are used, and belong to listeners and node ports that are there already. */
function diffPolicies(name: string, wanted: ClassicWanted, found: ClassicFound): ClassicChange[] {
  const ssl = sslPolicyOf(wanted.sslPolicy);
  const isKept = (there: ClassicListener): boolean =>
    wanted.listeners.some((one) => one.port === there.port && sameExceptCertificate(one, there));
  const encrypted = found.listeners.filter(
    (there) =>
      (there.protocol === 'SSL' || there.protocol === 'HTTPS') &&
      isKept(there) &&
      !there.policies.includes(ssl.name) &&
      !there.policies.includes(wanted.sslPolicy),
  );
  const backends = diffBackends(name, wanted, found);
  const needed = [
    ...(encrypted.length > 0 ? [ssl] : []),
    ...(wanted.usesProxyProtocol && backends.length > 0 ? [proxyProtocolPolicy] : []),
  ];
  return [
    ...needed
      .filter((policy) => !found.policies.includes(policy.name))
      .map((policy): ClassicChange => ({ kind: 'createPolicy', name, policy })),
    ...encrypted.map(
      ({ port }): ClassicChange => ({
        kind: 'setListenerPolicies',
        name,
        port,
        policies: [ssl.name],
      }),
    ),
    ...backends,
  ];
}

/**
 * LBC-28. A policy stays at a node port even when no listener leads there any more. Where one is wanted it is never taken away: a
 * listener that AWS does not show may have been made already.
 */
function diffBackends(name: string, wanted: ClassicWanted, found: ClassicFound): ClassicChange[] {
  const used = new Set(found.listeners.map(({ instancePort }) => instancePort));
  const wantedPorts = wanted.usesProxyProtocol
    ? wanted.listeners.map(({ instancePort }) => instancePort)
    : [];
  const isSet = (port: number): boolean =>
    found.backendPolicies.get(port)?.includes(proxyProtocolPolicy.name) ?? false;
  const left = [...found.backendPolicies.keys()].filter(
    (port) => isSet(port) && !wantedPorts.includes(port),
  );
  const missing = wantedPorts.filter((port) => used.has(port) && !isSet(port));
  const change = (instancePort: number, policies: readonly string[]): ClassicChange => ({
    kind: 'setBackendPolicies',
    name,
    instancePort,
    policies,
  });
  return [
    ...[...new Set(missing)].map((port) => change(port, [proxyProtocolPolicy.name])),
    ...left.map((port) => change(port, [])),
  ];
}

function diffInstances(name: string, wanted: ClassicWanted, found: ClassicFound): ClassicChange[] {
  const missing = without(wanted.instanceIds, found.instanceIds);
  const left = without(found.instanceIds, [...wanted.instanceIds, ...wanted.stoppedIds]);
  return [
    ...(missing.length === 0 ? [] : [{ kind: 'register' as const, name, instanceIds: missing }]),
    ...(left.length === 0 ? [] : [{ kind: 'deregister' as const, name, instanceIds: left }]),
  ];
}
