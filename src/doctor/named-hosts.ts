// The hosts that the environment, commands and arguments of pods name: where programs will connect to.
import { familyOf } from '../ip/address.ts';
import type { Pod } from '../kinds/pod/types.ts';
import type { Cluster } from './subject.ts';

export type NamedHost = {
  /** One pod of those that name it. */
  readonly pod: Pod;
  readonly host: string;
  /** As it is written, or that of the scheme. */
  readonly port?: number;
  /** Where the pod names it. */
  readonly field: string;
  readonly value: string;
};

/** Longer values are files and certificates, not addresses. */
const maxValueLength = 2000;
/** Of one workload's pods the first is enough. */
const maxWorkloads = 20_000;

/** Each host and port once for each workload. */
export function namedHosts(cluster: Cluster): readonly NamedHost[] {
  return cluster.once(findHosts);
}

function findHosts({ index, isInScope }: Cluster): readonly NamedHost[] {
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
    ...env.flatMap(({ name, value = '' }) => {
      if (isImage(name)) return [];
      const field = `spec.containers[${c}].env[${name}]`;
      const own = hostsIn(value);
      return named(pod, { field, value }, own.length > 0 ? own : bareHost(name, value, env));
    }),
    ...[...command, ...args].flatMap((value) =>
      named(pod, { field: `spec.containers[${c}].args`, value }, hostsIn(value)),
    ),
  ]);
  return [...new Map(hosts.map((one) => [`${one.host} ${one.port}`, one])).values()];
}

/** `postgres:15` is a host and a port only where no image is meant. */
const isImage = (name: string): boolean => /image/i.test(name.slice(0, 100));

type Target = Pick<NamedHost, 'host' | 'port'>;

function named(
  pod: Pod,
  position: Pick<NamedHost, 'field' | 'value'>,
  targets: readonly Target[],
): readonly NamedHost[] {
  return targets
    .filter(({ host }) => isHostName(host) && !isLocal(host))
    .map((target) => ({ pod, ...position, ...target }));
}

/** Of URLs, and of a value that is `host:port` as a whole. */
function hostsIn(value: string): readonly Target[] {
  if (value.length > maxValueLength) return [];
  const [, ...urls] = value.split('://');
  const schemes = value.split('://').map((text) => /[a-z]{1,20}$/.exec(text.slice(-20))?.[0] ?? '');
  // `scheme://user:password@host:port/path`, and lists of hosts as of databases.
  const authorities = urls.flatMap((rest, at) => {
    const authority = (rest.split(/[/?#"' ]/, 1)[0] ?? '').split('@').at(-1) ?? '';
    return authority.split(',').map((text) => targetOf(text, schemePorts[schemes[at] ?? '']));
  });
  const [flag = '', ...words] = value.split('=');
  const isOfImage = words.length > 0 && isImage(flag);
  const plain = urls.length > 0 || isOfImage ? '' : (words.at(-1) ?? flag);
  const pairs = plain.split(',').filter((one) => hasPort(one));
  return [...authorities, ...pairs.map((text) => targetOf(text, undefined))];
}

/** Other programs take ports of their own where a URL names none. */
const schemePorts: Readonly<Record<string, number>> = { http: 80, https: 443 };

function targetOf(text: string, defaultPort: number | undefined): Target {
  const [host = '', written = ''] = text.split(':', 2);
  const port = /^\d{1,5}$/.test(written)
    ? Number(written)
    : written === ''
      ? defaultPort
      : undefined;
  return { host: host.toLowerCase(), ...(port === undefined ? {} : { port }) };
}

const hostVariable = /^(.{0,60}?)_?(?:HOST|HOSTNAME)$/;

type Variable = { readonly name: string; readonly value?: string };

/** `DB_HOST=db`, whose port is in `DB_PORT`. */
function bareHost(name: string, value: string, env: readonly Variable[]): readonly Target[] {
  const [, prefix] = hostVariable.exec(name.slice(0, 100)) ?? [];
  if (prefix === undefined || prefix === '') return [];
  const { value: port = '' } = env.find((one) => one.name === `${prefix}_PORT`) ?? {};
  return [targetOf(/^\d{1,5}$/.test(port) ? `${value}:${port}` : value, undefined)];
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
