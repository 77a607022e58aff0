// Extracts from objects the facts that names need: small, plain, and cheap to send to another thread.
import { formatAddress, parseAddressSloppy } from '../../ip/address.ts';
import { isReady } from '../../kinds/endpoint-slice/conditions.ts';
import type { Endpoint, EndpointSlice } from '../../kinds/endpoint-slice/types.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { Service } from '../../kinds/service/types.ts';
import { serviceNameLabel } from '../../meta/well-known-labels.ts';

export type PortFacts = {
  readonly name: string;
  /** In lower case. */
  readonly protocol: string;
  readonly port: number;
};

export type ServiceFacts = {
  readonly namespace: string;
  readonly name: string;
  /** Empty for a headless Service. */
  readonly clusterIPs: readonly string[];
  readonly isHeadless: boolean;
  /** Present for the type ExternalName. */
  readonly externalName?: string;
  readonly ports: readonly PortFacts[];
};

export type SliceFacts = {
  readonly namespace: string;
  readonly service: string;
  /** Addresses of ready endpoints. */
  readonly addresses: readonly string[];
  /** The label of each below its Service; '' where it is derived from the address; an empty list where all are. */
  readonly labels: readonly string[];
  readonly ports: readonly PortFacts[];
  /** Present for the deprecated address type FQDN: the addresses may be domain names. */
  readonly hasNames?: true;
};

export type PodFacts = {
  readonly namespace: string;
  readonly name: string;
  readonly addresses: readonly string[];
  /** Present for hostNetwork pods: their addresses resolve, but do not identify the pod as a client. */
  readonly isOnHost?: true;
};

/** Stands for "no ports": the name has addresses, but no SRV records. */
export const noPort = -1;
const onlyNoPort: readonly PortFacts[] = [{ name: '', protocol: '', port: noPort }];

export function serviceFacts({ metadata, spec }: Service): ServiceFacts {
  const clusterIPs = spec?.clusterIPs ?? (spec?.clusterIP ? [spec.clusterIP] : []);
  const ports = (spec?.ports ?? []).map(({ name = '', protocol, port }) => ({
    name,
    protocol: (protocol ?? 'TCP').toLowerCase(),
    port,
  }));
  const isHeadless = clusterIPs[0] === 'None';
  const isExternal = spec?.type === 'ExternalName';
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    clusterIPs: isHeadless || isExternal ? [] : clusterIPs.flatMap(canonical),
    isHeadless,
    ...(isExternal ? { externalName: spec?.externalName ?? '' } : {}),
    ports: ports.length === 0 ? onlyNoPort : ports,
  };
}

export type SliceOptions = {
  /** Whether endpoints without a hostname use the name of their pod. */
  readonly endpointPodNames: boolean;
};

/** Undefined for a slice without a Service. */
export function sliceFacts(slice: EndpointSlice, options: SliceOptions): SliceFacts | undefined {
  const service = slice.metadata.labels?.[serviceNameLabel] ?? '';
  if (service === '') return undefined;
  const addressesOf = slice.addressType === 'FQDN' ? namedNames : namedAddresses;
  const ready = (slice.endpoints ?? []).filter(({ conditions }) => isReady(conditions ?? {}));
  const named = ready.flatMap((endpoint) => addressesOf(endpoint, options));
  return {
    namespace: slice.metadata.namespace ?? '',
    service,
    addresses: named.map(({ address }) => address),
    labels: named.some(({ label }) => label !== '') ? named.map(({ label }) => label) : [],
    ports: slicePorts(slice),
    ...(slice.addressType === 'FQDN' ? { hasNames: true } : {}),
  };
}

type NamedAddress = { readonly address: string; readonly label: string };

/** As with addresses, the label defaults to the domain name with dashes. */
function namedNames(endpoint: Endpoint, options: SliceOptions): readonly NamedAddress[] {
  const called = endpointName(endpoint, options);
  return (endpoint.addresses ?? []).map((text) => ({
    address: canonical(text)[0] ?? text,
    label: called || text.replaceAll('.', '-'),
  }));
}

function endpointName({ hostname, targetRef }: Endpoint, options: SliceOptions): string {
  return hostname || podLabel(targetRef?.name, options);
}

function namedAddresses(endpoint: Endpoint, options: SliceOptions): readonly NamedAddress[] {
  const called = endpointName(endpoint, options);
  return (endpoint.addresses ?? []).flatMap((text) =>
    canonical(text).map((address) => ({
      address,
      label: called || (text === address ? '' : addressLabel(text)),
    })),
  );
}

function slicePorts(slice: EndpointSlice): readonly PortFacts[] {
  const ports = (slice.ports ?? []).map(({ name, protocol, port }) => ({
    name: name ?? '',
    protocol: (protocol ?? '').toLowerCase(),
    port: port ?? noPort,
  }));
  return ports.length === 0 ? onlyNoPort : ports;
}

/** Undefined for pods that have terminated or have no address: they have no name. */
export function podFacts({ metadata, spec, status }: Pod): PodFacts | undefined {
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return undefined;
  const ips = status?.podIPs?.map(({ ip }) => ip) ?? (status?.podIP ? [status.podIP] : []);
  const addresses = ips.flatMap((ip) => canonical(ip ?? ''));
  if (addresses.length === 0) return undefined;
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    addresses,
    ...(spec?.hostNetwork === true ? { isOnHost: true } : {}),
  };
}

/** The default label of an endpoint: its address with dashes; a trailing dash, as of `fd00::`, gets a 0. */
export function addressLabel(address: string): string {
  const label = address.replaceAll(/[.:]/g, '-');
  return label.endsWith('-') ? `${label}0` : label;
}

/** A pod name longer than a DNS label is not used. */
const maxLabelLength = 63;

function podLabel(name: string | undefined, { endpointPodNames }: SliceOptions): string {
  return endpointPodNames && name !== undefined && name.length <= maxLabelLength ? name : '';
}

/** The canonical form of the address; empty for invalid ones. */
function canonical(text: string): string[] {
  const address = parseAddressSloppy(text);
  return address === undefined ? [] : [formatAddress(address)];
}
