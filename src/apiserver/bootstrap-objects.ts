// The objects that exist from the start: system namespaces, the default ServiceCIDR, and the Service,
// Endpoints and EndpointSlice through which pods reach this server.
import { formatAddress, isLoopback, parseAddress } from '../ip/address.ts';
import { type Cidr, formatCidr, nthAddress } from '../ip/cidr.ts';

export type BootstrapFacts = {
  readonly serviceCidrs: readonly Cidr[];
  /** Where clients inside the cluster reach this server. */
  readonly advertise: { readonly address: string; readonly port: number };
};

/** A raw body and the resource it belongs to. */
export type BootstrapObject = {
  readonly resource: string;
  readonly namespace: string;
  readonly body: Readonly<Record<string, unknown>> & {
    readonly metadata: {
      readonly name: string;
      readonly labels?: Readonly<Record<string, string>>;
    };
  };
};

const systemNamespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

export const defaultServiceCidr = 'kubernetes';
export const apiServiceName = 'kubernetes';

export function namespaceObjects(): readonly BootstrapObject[] {
  return systemNamespaces.map((name) => ({
    resource: 'namespaces',
    namespace: '',
    body: { metadata: { name } },
  }));
}

export function serviceCidrObject({ serviceCidrs }: BootstrapFacts): BootstrapObject {
  return {
    resource: 'servicecidrs.networking.k8s.io',
    namespace: '',
    body: { metadata: { name: defaultServiceCidr }, spec: { cidrs: serviceCidrs.map(formatCidr) } },
  };
}

export function readyCondition(now: string): Readonly<Record<string, string>> {
  return {
    type: 'Ready',
    status: 'True',
    lastTransitionTime: now,
    reason: '',
    message: 'Kubernetes Service CIDR is ready',
  };
}

export function apiServiceObject({ serviceCidrs, advertise }: BootstrapFacts): BootstrapObject {
  const [primary] = serviceCidrs;
  if (primary === undefined)
    throw new Error('Cannot make the kubernetes Service: there is no service range');
  return {
    resource: 'services',
    namespace: 'default',
    body: {
      metadata: {
        name: apiServiceName,
        labels: { component: 'apiserver', provider: 'kubernetes' },
      },
      spec: {
        clusterIP: formatAddress(nthAddress(primary, 1n)),
        ipFamilies: [primary.family],
        ipFamilyPolicy: 'SingleStack',
        ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: advertise.port }],
        sessionAffinity: 'None',
        type: 'ClusterIP',
      },
    },
  };
}

/** Endpoints and slice list the server's own address; the slice bears no managed-by label and no owner. */
export function apiEndpointObjects({ advertise }: BootstrapFacts): readonly BootstrapObject[] {
  const address = parseAddress(advertise.address);
  // Endpoints may not be loopback: on a machine without any other address the Service leads nowhere.
  if (address === undefined || isLoopback(address)) return [];
  const ports = [{ name: 'https', port: advertise.port, protocol: 'TCP' }];
  return [
    {
      resource: 'endpoints',
      namespace: 'default',
      body: {
        metadata: {
          name: apiServiceName,
          labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' },
        },
        subsets: [{ addresses: [{ ip: advertise.address }], ports }],
      },
    },
    {
      resource: 'endpointslices.discovery.k8s.io',
      namespace: 'default',
      body: {
        metadata: {
          name: apiServiceName,
          labels: { 'kubernetes.io/service-name': apiServiceName },
        },
        addressType: address.family,
        endpoints: [{ addresses: [advertise.address], conditions: { ready: true } }],
        ports,
      },
    },
  ];
}
