// Reads what one trace needs and no more: names are looked up, not searched for. Each step needs what the one before it found.
import type { ApiCaller } from '../client/api-call.ts';
import { parseName } from '../dns/cluster/parse-name.ts';
import { isLoopback, parseAddress } from '../ip/address.ts';
import type { EndpointSlice } from '../kinds/endpoint-slice/types.ts';
import type { Service } from '../kinds/service/types.ts';
import { serviceNameLabel } from '../meta/well-known-labels.ts';
import {
  clusterSettings,
  dnsServices,
  type SettingFlags,
  systemNamespace,
} from '../snapshot/cluster-settings.ts';
import { indexSnapshot, type SnapshotIndex } from '../snapshot/index-snapshot.ts';
import type { PastMoment } from '../snapshot/read-history.ts';
import {
  type ObjectReader,
  type ObjectRequest,
  openObjectReader,
} from '../snapshot/read-objects.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { resolveName, searchNames } from './name-hop.ts';
import { nodeAt } from './node-rules.ts';
import type { SourceRequest, Target } from './parse-target.ts';
import { resolveSource } from './resolve-source.ts';

export type TraceReadRequest = {
  readonly target: Target;
  readonly from: SourceRequest;
  readonly namespace: string;
  readonly flags: SettingFlags;
  /** Absent: now. Throws HistoryUnavailable. */
  readonly at?: PastMoment;
};

/** More endpoints than this: their pods are listed by the selector of the Service. */
const maxNamedPods = 12;
/** As many aliases as the DNS follows. */
const maxAliases = 8;
/** Each costs a list. */
const maxAddresses = 4;

export async function readTraceSnapshot(
  caller: ApiCaller,
  request: TraceReadRequest,
  signal?: AbortSignal,
): Promise<Snapshot> {
  const { at } = request;
  const reader = openObjectReader(caller, {
    ...(at === undefined ? {} : { at }),
    ...(signal === undefined ? {} : { signal }),
  });
  await reader.read([...settingRequests, ...sourceRequests(request), ...targetRequests(request)]);
  const wanted = wantedServices(indexOf(reader), request);
  await readServices(reader, wanted);
  for (const ip of otherAddresses(indexOf(reader), request)) {
    await reader.read([{ kind: 'services', fieldSelector: `spec.clusterIP=${ip}` }]);
    const { target } = request;
    const port = 'port' in target ? Number(target.port ?? 0) : 0;
    await readByAddress(reader, { kind: 'address', ip, port });
  }
  await readByAddress(reader, request.target);
  await readPods(reader);
  return reader.snapshot();
}

const indexOf = (reader: ObjectReader): SnapshotIndex => indexSnapshot(reader.snapshot());

const settingRequests: readonly ObjectRequest[] = [
  { kind: 'nodes' },
  { kind: 'serviceCIDRs' },
  ...['coredns', 'kube-proxy'].map(
    (name) => ({ kind: 'configMaps', namespace: systemNamespace, name }) as const,
  ),
  ...dnsServices.map((name) => ({ kind: 'services', namespace: systemNamespace, name }) as const),
];

function sourceRequests({ from, namespace }: TraceReadRequest): readonly ObjectRequest[] {
  return from.kind === 'pod'
    ? [{ kind: 'pods', namespace: from.namespace ?? namespace, name: from.name }]
    : [];
}

function targetRequests({ target, namespace }: TraceReadRequest): readonly ObjectRequest[] {
  switch (target.kind) {
    case 'service':
      return serviceRequests(target.namespace ?? namespace, target.name);
    case 'node':
      // Any Service may have the node port.
      return [
        { kind: 'services' },
        { kind: 'pods', fieldSelector: `spec.nodeName=${target.name}` },
      ];
    case 'address':
      return [{ kind: 'services', fieldSelector: `spec.clusterIP=${target.ip}` }];
    case 'name':
      return [];
  }
}

function serviceRequests(namespace: string, name: string): readonly ObjectRequest[] {
  return [
    { kind: 'services', namespace, name },
    { kind: 'endpointSlices', namespace, labelSelector: `${serviceNameLabel}=${name}` },
    { kind: 'namespaces', name: namespace },
  ];
}

type Wanted = { readonly namespace: string; readonly name: string };

/** What a name means that no Service has: one of a pod, or of /etc/hosts. */
function otherAddresses(index: SnapshotIndex, request: TraceReadRequest): readonly string[] {
  const { target, from, namespace, flags } = request;
  if (target.kind !== 'name') return [];
  const settings = clusterSettings(index, flags);
  const source = resolveSource(index, from, { settings, namespace });
  if ('error' in source) return [];
  const { used } = resolveName(index, target.host, {
    source: source.value,
    domain: settings.domain.value,
  });
  const ofSlices = new Set(
    index.snapshot.objects.endpointSlices.flatMap(({ endpoints }) =>
      (endpoints ?? []).flatMap(({ addresses }) => addresses ?? []),
    ),
  );
  const isOther = (ip: string): boolean => {
    const address = parseAddress(ip);
    if (address === undefined) return false;
    return !ofSlices.has(ip) && index.servicesAt(ip).length === 0 && index.podsAt(ip).length === 0;
  };
  return (used?.addresses ?? []).filter(isOther).slice(0, maxAddresses);
}

/** The Services that names of the search list could be of. */
function wantedServices(index: SnapshotIndex, request: TraceReadRequest): readonly Wanted[] {
  const { target, from, namespace, flags } = request;
  if (target.kind !== 'name') return [];
  const settings = clusterSettings(index, flags);
  const source = resolveSource(index, from, { settings, namespace });
  if ('error' in source) return [];
  // Not found there, but meant: the verdict says so.
  if (!source.value.usesClusterDns) return meantService(target.host);
  return searchNames(target.host, source.value.resolver).flatMap(
    (name) => serviceOf(name, settings.domain.value) ?? [],
  );
}

/** `web.shop` and `web.shop.svc` and so on. */
function meantService(host: string): readonly Wanted[] {
  const [name = '', namespace = '', third] = host.toLowerCase().replace(/\.$/, '').split('.');
  const isMeant = (third === undefined || third === 'svc') && isObjectName(namespace);
  return isMeant && isObjectName(name) ? [{ namespace, name }] : [];
}

function serviceOf(name: string, domain: string): Wanted | undefined {
  const suffix = `.${domain}.`;
  const text = `${name.replace(/\.$/, '')}.`.toLowerCase();
  if (!text.endsWith(suffix)) return undefined;
  const parsed = parseName(text.slice(0, -suffix.length).split('.'));
  if (parsed === undefined || parsed === 'apex' || parsed.kind !== 'svc') return undefined;
  const { namespace, name: service } = parsed;
  const areNames = [namespace, service].every((one) => one !== undefined && isObjectName(one));
  return areNames && namespace !== undefined && service !== undefined
    ? { namespace, name: service }
    : undefined;
}

/** Others cannot exist, and are no part of a path. */
function isObjectName(text: string): boolean {
  return /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text);
}

async function readServices(reader: ObjectReader, wanted: readonly Wanted[]): Promise<void> {
  let next = wanted;
  for (let round = 0; next.length > 0 && round < maxAliases; round += 1) {
    await reader.read(next.flatMap(({ namespace, name }) => serviceRequests(namespace, name)));
    next = aliasesOf(indexOf(reader), next);
  }
  const index = indexOf(reader);
  const found = wanted.filter(({ namespace, name }) => index.service(namespace, name));
  const [first] = wanted;
  if (found.length > 0 || first === undefined) return;
  // To say where there is one of that name.
  await reader.read([{ kind: 'services', fieldSelector: `metadata.name=${first.name}` }]);
}

function aliasesOf(index: SnapshotIndex, services: readonly Wanted[]): readonly Wanted[] {
  const { domain } = clusterSettings(index);
  return services.flatMap(({ namespace, name }) => {
    const target = index.service(namespace, name)?.spec.externalName ?? '';
    return target === '' ? [] : (serviceOf(target, domain.value) ?? []);
  });
}

async function readByAddress(reader: ObjectReader, target: Target): Promise<void> {
  if (target.kind !== 'address' && target.kind !== 'node') return;
  const ip = target.kind === 'address' ? target.ip : '';
  const before = indexOf(reader);
  const node = target.kind === 'address' ? nodeAt(before, ip) : undefined;
  if (target.kind === 'address' && before.servicesAt(ip).length === 0) {
    await reader.read([
      { kind: 'services' },
      node === undefined
        ? { kind: 'pods', fieldSelector: `status.podIP=${ip}` }
        : { kind: 'pods', fieldSelector: `spec.nodeName=${node}` },
    ]);
  }
  const index = indexOf(reader);
  const address = parseAddress(ip);
  // Node ports may answer on loopback.
  const isNode = node !== undefined || (address !== undefined && isLoopback(address));
  const services =
    target.kind === 'node' || isNode
      ? index.snapshot.objects.services.filter((one) => hasNodePort(one, target.port))
      : index.servicesAt(ip);
  await reader.read(
    services.flatMap(({ metadata: { namespace = '', name = '' } }) =>
      serviceRequests(namespace, name),
    ),
  );
}

function hasNodePort({ spec }: Service, port: number): boolean {
  return (
    spec.healthCheckNodePort === port ||
    (spec.ports ?? []).some(({ nodePort }) => nodePort === port)
  );
}

/** Those behind the endpoints; without endpoints, those that the selector matches. */
async function readPods(reader: ObjectReader): Promise<void> {
  const index = indexOf(reader);
  const { endpointSlices } = index.snapshot.objects;
  const keys = new Set(
    endpointSlices.map(
      ({ metadata }) => `${metadata.namespace}/${metadata.labels?.[serviceNameLabel] ?? ''}`,
    ),
  );
  const named = endpointSlices.flatMap(podsOf);
  if (named.length > 0 && named.length <= maxNamedPods) {
    await reader.read(named.map((one) => ({ kind: 'pods', ...one })));
  }
  const services = index.snapshot.objects.services.filter(({ metadata, spec }) => {
    const { namespace = '', name = '' } = metadata;
    const isTraced = keys.has(`${namespace}/${name}`) || endpointSlices.length === 0;
    return isTraced && namespace !== systemNamespace && Object.keys(spec.selector ?? {}).length > 0;
  });
  if (named.length > 0 && named.length <= maxNamedPods) return;
  await reader.read(services.slice(0, maxNamedPods).flatMap(selectedPods));
}

function podsOf({ endpoints, metadata }: EndpointSlice): readonly Wanted[] {
  return (endpoints ?? []).flatMap(({ targetRef }) => {
    const { kind, name, namespace = metadata.namespace ?? '' } = targetRef ?? {};
    return kind === 'Pod' && name
      ? [{ namespace: namespace || (metadata.namespace ?? ''), name }]
      : [];
  });
}

function selectedPods({ metadata, spec }: Service): readonly ObjectRequest[] {
  const labelSelector = Object.entries(spec.selector ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  return [{ kind: 'pods', namespace: metadata.namespace ?? '', labelSelector }];
}
