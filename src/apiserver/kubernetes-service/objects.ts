// The objects that exist from the start: system namespaces, and the kubernetes Service with its Endpoints and slices.

import { formatAddress, isLoopback, parseAddress } from '../../ip/address.ts';
import { type Cidr, nthAddress } from '../../ip/cidr.ts';
import { systemClasses } from '../../kinds/priority-class/system-classes.ts';
import { serviceNameLabel, skipMirrorLabel } from '../../meta/well-known-labels.ts';

/** Where clients inside the cluster reach a server. */
export type Advertised = { readonly address: string; readonly port: number };

export type BootstrapFacts = {
  readonly serviceCidrs: readonly Cidr[];
  readonly advertise: Advertised;
  /** Node port of the kubernetes Service; absent: it has none. */
  readonly serviceNodePort?: number;
  /** Whether Endpoints and slices of that Service are written at all. */
  readonly publishesEndpoints: boolean;
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

const apiServiceName = 'kubernetes';

export function namespaceObjects(): readonly BootstrapObject[] {
  return systemNamespaces.map((name) => ({
    resource: 'namespaces',
    namespace: '',
    body: { metadata: { name } },
  }));
}

/** A pod that names one of them is refused without. */
export function priorityClassObjects(): readonly BootstrapObject[] {
  return systemClasses.map(({ name, value, description }) => ({
    resource: 'priorityclasses.scheduling.k8s.io',
    namespace: '',
    body: { metadata: { name }, value, description },
  }));
}

export function apiServiceObject(facts: BootstrapFacts): BootstrapObject {
  const { serviceCidrs, advertise, serviceNodePort: nodePort } = facts;
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
        ports: [
          {
            name: 'https',
            port: 443,
            protocol: 'TCP',
            targetPort: advertise.port,
            ...(nodePort === undefined ? {} : { nodePort }),
          },
        ],
        sessionAffinity: 'None',
        type: nodePort === undefined ? 'ClusterIP' : 'NodePort',
      },
    },
  };
}

/** Endpoints and slices list the servers' addresses; the slices bear no managed-by label and no owner. */
export function apiEndpointObjects(servers: readonly Advertised[]): readonly BootstrapObject[] {
  const groups = groupsOf(servers);
  if (groups.length === 0) return [];
  return [
    {
      resource: 'endpoints',
      namespace: 'default',
      body: {
        metadata: {
          name: apiServiceName,
          labels: { [skipMirrorLabel]: 'true' },
        },
        subsets: groups.map(({ addresses, port }) => ({
          addresses: addresses.map((ip) => ({ ip })),
          ports: portsOf(port),
        })),
      },
    },
    ...groups.map(sliceOf),
  ];
}

/** One for each family and port; there is one when all servers listen alike, as they should. */
type ServerGroup = {
  readonly family: 'IPv4' | 'IPv6';
  readonly port: number;
  readonly addresses: readonly string[];
};

function groupsOf(servers: readonly Advertised[]): readonly ServerGroup[] {
  const groups = new Map<
    string,
    { family: ServerGroup['family']; port: number; all: Set<string> }
  >();
  for (const { address: text, port } of servers) {
    const address = parseAddress(text);
    // Loopback addresses are not valid endpoints: on a machine without another address, the Service has none.
    if (address === undefined || isLoopback(address)) continue;
    const { family } = address;
    const key = `${family} ${String(port).padStart(5, '0')}`;
    const group = groups.get(key) ?? { family, port, all: new Set() };
    groups.set(key, group);
    group.all.add(text);
  }
  return [...groups.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { family, port, all }]) => ({ family, port, addresses: [...all].sort() }));
}

function sliceOf({ family, port, addresses }: ServerGroup, index: number): BootstrapObject {
  const name = index === 0 ? apiServiceName : `${apiServiceName}-${family.toLowerCase()}-${port}`;
  return {
    resource: sliceResource,
    namespace: 'default',
    body: {
      metadata: { name, labels: { [serviceNameLabel]: apiServiceName } },
      addressType: family,
      endpoints: addresses.map((address) => ({
        addresses: [address],
        conditions: { ready: true },
      })),
      ports: portsOf(port),
    },
  };
}

const portsOf = (port: number) => [{ name: 'https', port, protocol: 'TCP' }];

export const sliceResource = 'endpointslices.discovery.k8s.io';

/** The labels of a restored object: Endpoints keep further labels, slices do not. */
export function restoredLabels(
  { resource, body }: BootstrapObject,
  live: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  return resource === sliceResource
    ? { ...body.metadata.labels }
    : { ...live, ...body.metadata.labels };
}

/** Whether the name is one that `sliceOf()` gives, also for servers that no longer exist. */
export const isApiSliceName = (name: string): boolean =>
  /^kubernetes(-ipv[46]-[0-9]{1,5})?$/.test(name);
