// The hosts that the environment, commands and arguments of pods name: where programs will connect to.
import { familyOf } from '../ip/address.ts';
import type { Pod } from '../kinds/pod/types.ts';
import type { Cluster } from './subject.ts';

export type NamedHost = {
  /** One pod of those that name it. */
  readonly pod: Pod;
  readonly host: string;
  /** Where the pod names it. */
  readonly field: string;
  readonly value: string;
};

/** Longer values are files and certificates, not addresses. */
const maxValueLength = 2000;
/** Of one workload's pods the first is enough. */
const maxWorkloads = 20_000;

/** Each host once for each workload. */
export function namedHosts({ index, isInScope }: Cluster): readonly NamedHost[] {
  const seen = new Set<string>();
  const found: NamedHost[] = [];
  for (const pod of index.snapshot.objects.pods) {
    const { namespace = '', name, ownerReferences, deletionTimestamp } = pod.metadata;
    if (!isInScope(namespace) || deletionTimestamp !== undefined) continue;
    const workload = `${namespace} ${ownerReferences?.[0]?.uid ?? name}`;
    if (seen.has(workload)) continue;
    seen.add(workload);
    if (seen.size > maxWorkloads) break;
    found.push(...hostsOf(pod));
  }
  return found;
}

function hostsOf(pod: Pod): readonly NamedHost[] {
  const hosts = (pod.spec.containers ?? []).flatMap(({ env = [], command = [], args = [] }, c) => [
    ...env.flatMap(({ name, value = '' }) =>
      named(pod, `spec.containers[${c}].env[${name}]`, value),
    ),
    ...[...command, ...args].flatMap((word) => named(pod, `spec.containers[${c}].args`, word)),
  ]);
  return [...new Map(hosts.map((one) => [one.host, one])).values()];
}

function named(pod: Pod, field: string, value: string): readonly NamedHost[] {
  return hostsIn(value).map((host) => ({ pod, host, field, value }));
}

/** Of URLs, and of a value that is `host:port` as a whole. */
function hostsIn(value: string): readonly string[] {
  if (value.length > maxValueLength) return [];
  const urls = value.split('://').slice(1);
  // `scheme://user:password@host:port/path`, and lists of hosts as of databases.
  const authorities = urls.map(
    (rest) => (rest.split(/[/?#"' ]/, 1)[0] ?? '').split('@').at(-1) ?? '',
  );
  const plain = urls.length === 0 ? (value.split('=').at(-1) ?? '') : '';
  const pairs = plain.split(',').filter((one) => hasPort(one));
  return [...authorities.flatMap((text) => text.split(',')), ...pairs]
    .map((text) => text.split(':', 1)[0]?.toLowerCase() ?? '')
    .filter((host) => isHostName(host) && !isLocal(host));
}

function hasPort(text: string): boolean {
  const [host = '', port = '', ...rest] = text.split(':');
  return host !== '' && rest.length === 0 && /^\d{2,5}$/.test(port);
}

function isHostName(host: string): boolean {
  if (host === '' || host.length > 253 || familyOf(host) !== undefined) return false;
  return (
    host.split('.').every((label) => label.length <= 63 && /^[a-z0-9_-]+$/.test(label)) &&
    /[a-z]/.test(host)
  );
}

const isLocal = (host: string): boolean => host === 'localhost' || host.endsWith('.localhost');
