// Probes and hooks with another host: the node agent would connect to it with the network access of the node.
import {
  type AnyContainer,
  type CheckedPod,
  containersOf,
  containersText,
  plural,
  quoted,
  sorted,
} from './check.ts';

export function hostProbes(pod: CheckedPod) {
  const found: string[] = [];
  const names: string[] = [];
  for (const container of containersOf(pod)) {
    const hosts = hostsOf(container);
    for (const host of hosts) found.push(host);
    if (hosts.length > 0) names.push(container.name);
  }
  if (names.length === 0) return undefined;
  const hosts = sorted(found);
  const bad = sorted(names);
  const uses = plural('uses', 'use', bad.length);
  const what = plural('probe or lifecycle host', 'probe or lifecycle hosts', hosts.length);
  const detail = `${containersText(bad)} ${uses} ${what} ${quoted(hosts)}`;
  return { reason: 'probe or lifecycle host', detail };
}

function hostsOf(container: AnyContainer): readonly string[] {
  const { livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
  const handlers = [
    ...[livenessProbe, readinessProbe, startupProbe],
    ...[lifecycle?.postStart, lifecycle?.preStop],
  ];
  return handlers
    .flatMap((handler) => [handler?.httpGet?.host, handler?.tcpSocket?.host])
    .filter((host) => host !== undefined)
    .filter((host) => host !== '');
}
