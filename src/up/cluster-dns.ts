// The Service `kube-dns`, as kubeadm names it, and the EndpointSlices that point it to the DNS server on the LAN.
import type { ApiCaller } from '../client/api-call.ts';
import { resourceClient } from '../client/rest.ts';
import { type Family, formatAddress, parseAddress } from '../ip/address.ts';
import { type Cidr, nthAddress } from '../ip/cidr.ts';
import { endpointSliceDefinition } from '../kinds/endpoint-slice/definition.ts';
import { serviceDefinition } from '../kinds/service/definition.ts';
import { upManager } from '../meta/field-managers.ts';
import { serviceNameLabel, sliceManagedByLabel } from '../meta/well-known-labels.ts';

export type ClusterDnsOptions = {
  /** Service ranges, of the families in which the server can be reached. */
  readonly ranges: readonly Cidr[];
  /** The addresses on which it listens, one of each family. */
  readonly servers: readonly DnsServer[];
};

export type DnsServer = { readonly host: string; readonly port: number };

const namespace = 'kube-system';
const name = 'kube-dns';
/** As kubeadm chooses it. */
const position = 10n;

/** The DNS server addresses of pods: the tenth address of each service range. */
export function clusterDnsAddresses(ranges: readonly Cidr[]): readonly string[] {
  return ranges.map((range) => formatAddress(nthAddress(range, position)));
}

const ports = (port: number) => [
  { name: 'dns', port, protocol: 'UDP' },
  { name: 'dns-tcp', port, protocol: 'TCP' },
];
const dnsPort = 53;

export function clusterDnsService(ranges: readonly Cidr[]): Readonly<Record<string, unknown>> {
  const [first = ''] = clusterDnsAddresses(ranges);
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      ...{ name, namespace },
      labels: {
        'k8s-app': 'kube-dns',
        'kubernetes.io/cluster-service': 'true',
        'kubernetes.io/name': 'CoreDNS',
      },
    },
    spec: {
      type: 'ClusterIP',
      clusterIP: first,
      clusterIPs: clusterDnsAddresses(ranges),
      ipFamilies: ranges.map(({ family }) => family),
      ipFamilyPolicy: ranges.length > 1 ? 'RequireDualStack' : 'SingleStack',
      ports: ports(dnsPort).map((port) => ({ ...port, targetPort: port.port })),
    },
  };
}

export function clusterDnsSlice({ host, port }: DnsServer): Readonly<Record<string, unknown>> {
  const family: Family = parseAddress(host)?.family ?? 'IPv4';
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `${name}-${family.toLowerCase()}`,
      namespace,
      labels: {
        [serviceNameLabel]: name,
        [sliceManagedByLabel]: upManager,
      },
    },
    addressType: family,
    endpoints: [{ addresses: [host], conditions: { ready: true } }],
    ports: ports(port),
  };
}

/** Applied on every start, because the addresses may have changed. */
export async function publishClusterDns(
  caller: ApiCaller,
  { ranges, servers }: ClusterDnsOptions,
): Promise<void> {
  const options = { type: 'apply', fieldManager: upManager, force: true } as const;
  const services = resourceClient(caller, serviceDefinition);
  const slices = resourceClient(caller, endpointSliceDefinition);
  await services.patch({ namespace, name }, clusterDnsService(ranges), options);
  for (const server of servers) {
    const slice = clusterDnsSlice(server);
    const { name: sliceName } = slice.metadata as { readonly name: string };
    await slices.patch({ namespace, name: sliceName }, slice, options);
  }
}
