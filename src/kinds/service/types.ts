import { condition } from '../../meta/conditions.ts';
import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';

const servicePortSchema = s.struct(
  'ServicePort',
  {
    name: s.string('Name of the port within the Service; needed when there is more than one.'),
    protocol: s.oneOf(['SCTP', 'TCP', 'UDP'], 'Transport protocol; TCP when unset.', {
      default: 'TCP',
      goType: 'v1.Protocol',
    }),
    appProtocol: s.pointer(
      s.string('Application protocol, as a hint for implementations that treat some specially.'),
    ),
    port: s.required(s.always(s.int32('The port on which the Service answers.'))),
    targetPort: s.always(
      s.intOrString('Number or name of the port at the pods; the same as port when unset.'),
    ),
    nodePort: s.int32('Port that every node opens for this one, for NodePort and LoadBalancer.'),
  },
  { numbers: [1, 2, 6, 3, 4, 5] },
);
export type ServicePort = s.Static<typeof servicePortSchema>;

const clientIPConfig = s.struct(
  'ClientIPConfig',
  {
    timeoutSeconds: s.pointer(
      s.int32('Seconds for which a client keeps its endpoint: 1 to 86400, 10800 when unset.'),
    ),
  },
  { numbers: [1] },
);

const sessionAffinityConfig = s.struct(
  'SessionAffinityConfig',
  {
    clientIP: s.pointer(s.described(clientIPConfig, 'Settings of affinity by client address.')),
  },
  { numbers: [1] },
);

const ipFamily = s.oneOf(['IPv4', 'IPv6'], 'An address family.', { goType: 'v1.IPFamily' });
export type IPFamily = s.Static<typeof ipFamily>;

const serviceSpecSchema = s.struct(
  'ServiceSpec',
  {
    ports: s.list(servicePortSchema, 'The ports on which the Service answers.', {
      listType: 'map',
      keys: ['port', 'protocol'],
      mergeKey: 'port',
      patchStrategy: 'merge',
    }),
    selector: s.map(
      s.string(),
      'Labels of the pods behind the Service. Without a selector its endpoints are managed elsewhere.',
      { mapType: 'atomic' },
    ),
    clusterIP: s.string(
      'First address of the Service, set by the server when absent; None makes a headless Service.',
    ),
    clusterIPs: s.list(
      s.string(),
      'All addresses, at most one of each family; the first is clusterIP.',
      {
        listType: 'atomic',
      },
    ),
    type: s.oneOf(
      ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'],
      'How the Service is reached; ClusterIP when unset.',
      { goType: 'v1.ServiceType' },
    ),
    externalIPs: s.list(
      s.string(),
      'Further addresses at which nodes accept traffic for the Service; they are managed elsewhere.',
      { listType: 'atomic' },
    ),
    sessionAffinity: s.oneOf(
      ['ClientIP', 'None'],
      'Whether the connections of one client go to one endpoint; None when unset.',
      { goType: 'v1.ServiceAffinity' },
    ),
    loadBalancerIP: s.string('Requested address of the load balancer; deprecated.'),
    loadBalancerSourceRanges: s.list(
      s.string(),
      'The clients that may use the load balancer, as CIDRs; all when empty.',
      { listType: 'atomic' },
    ),
    externalName: s.string('DNS name that an ExternalName Service stands for.'),
    externalTrafficPolicy: s.oneOf(
      ['Cluster', 'Local'],
      'Which endpoints get traffic from outside: all, or those on the node it came to.',
      { goType: 'v1.ServiceExternalTrafficPolicy' },
    ),
    healthCheckNodePort: s.int32(
      'Port at which nodes tell a load balancer whether they have endpoints, for policy Local.',
    ),
    publishNotReadyAddresses: s.boolean('Whether pods count as endpoints before they are ready.'),
    sessionAffinityConfig: s.pointer(
      s.described(sessionAffinityConfig, 'Settings of the affinity.'),
    ),
    ipFamilies: s.list(ipFamily, 'Families of the addresses, in their order.', {
      listType: 'atomic',
    }),
    ipFamilyPolicy: s.pointer(
      s.oneOf(
        ['PreferDualStack', 'RequireDualStack', 'SingleStack'],
        'Whether the Service has addresses of one family or of both.',
        { goType: 'v1.IPFamilyPolicy' },
      ),
    ),
    allocateLoadBalancerNodePorts: s.pointer(
      s.boolean('Whether a LoadBalancer Service gets node ports; true when unset.'),
    ),
    loadBalancerClass: s.pointer(
      s.string('The implementation that serves this load balancer; the default one when unset.'),
    ),
    internalTrafficPolicy: s.pointer(
      s.oneOf(
        ['Cluster', 'Local'],
        'Which endpoints get traffic from inside: all, or those on the same node.',
        { goType: 'v1.ServiceInternalTrafficPolicy' },
      ),
    ),
    trafficDistribution: s.pointer(
      s.string('Preference for near endpoints: PreferSameZone, PreferSameNode or PreferClose.'),
    ),
  },
  { numbers: [1, 2, 3, 18, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 19, 17, 20, 21, 22, 23] },
);
export type ServiceSpec = s.Static<typeof serviceSpecSchema>;

const portStatus = s.struct(
  'PortStatus',
  {
    port: s.required(s.always(s.int32('Port of the load balancer.'))),
    protocol: s.required(
      s.always(
        s.oneOf(['SCTP', 'TCP', 'UDP'], 'Transport protocol of the port.', {
          goType: 'v1.Protocol',
        }),
      ),
    ),
    error: s.pointer(s.string('Why the port does not work, as a CamelCase reason.')),
  },
  { numbers: [1, 2, 3] },
);

const loadBalancerIngress = s.struct(
  'LoadBalancerIngress',
  {
    ip: s.string('Address of a load balancer that is known by address.'),
    hostname: s.string('Name of a load balancer that is known by name.'),
    ipMode: s.pointer(
      s.string(
        'VIP: packets arrive with this destination. Proxy: they arrive with that of a node or pod.',
        {
          goType: 'v1.LoadBalancerIPMode',
        },
      ),
    ),
    ports: s.list(portStatus, 'State of single ports of the load balancer.', {
      listType: 'atomic',
    }),
  },
  { numbers: [1, 2, 3, 4] },
);
export type LoadBalancerIngress = s.Static<typeof loadBalancerIngress>;

const loadBalancerStatus = s.struct(
  'LoadBalancerStatus',
  {
    ingress: s.list(loadBalancerIngress, 'Where the load balancer takes traffic.', {
      listType: 'atomic',
    }),
  },
  { numbers: [1] },
);

const serviceStatus = s.struct(
  'ServiceStatus',
  {
    loadBalancer: s.described(loadBalancerStatus, 'State of the load balancer, if there is one.'),
    conditions: s.list(condition, 'What is currently true of the Service.', {
      listType: 'map',
      keys: ['type'],
      mergeKey: 'type',
      patchStrategy: 'merge',
    }),
  },
  { numbers: [1, 2] },
);
export type ServiceStatus = s.Static<typeof serviceStatus>;

export const serviceSchema = s.struct(
  'Service',
  {
    ...objectFields,
    spec: s.described(serviceSpecSchema, 'What the Service is to be.'),
    status: s.described(serviceStatus, 'What became of it; written by those who serve it.'),
  },
  {
    description: 'A stable name and address for a changing set of pods.',
    numbers: [0, 0, 1, 2, 3],
  },
);
export type Service = KubeObject & s.Static<typeof serviceSchema>;

/** The value of clusterIP for headless Services. */
export const headlessIP = 'None';

export type SpecChanges = { readonly [K in keyof ServiceSpec]?: ServiceSpec[K] | undefined };

/**
 * The Service with some fields of its spec replaced, or removed where the value is undefined; the same object if
 * nothing differs.
 */
export function withSpec(service: Service, changes: SpecChanges): Service {
  const old = service.spec as Readonly<Record<string, unknown>>;
  const wanted = changes as Readonly<Record<string, unknown>>;
  let isSame = true;
  for (const field in wanted) if (wanted[field] !== old[field]) isSame = false;
  if (isSame) return service;
  // Iterates the present fields, because most fields are absent.
  const values = new Array<unknown>(specFields.length);
  for (const field in old) values[fieldIndexes.get(field) ?? 0] = old[field];
  for (const field in wanted) values[fieldIndexes.get(field) ?? 0] = wanted[field];
  const spec: Record<string, unknown> = {};
  for (let at = 0; at < values.length; at += 1) {
    if (values[at] !== undefined) spec[specFields[at] as string] = values[at];
  }
  return replaceSpec(service, spec as ServiceSpec);
}

const specFields = Object.keys(serviceSpecSchema.fields);
const fieldIndexes = new Map(specFields.map((field, at) => [field, at]));

/** Explicit fields, here and below: copying objects of varying shape takes several times as long. */
export function replaceSpec(
  { kind, apiVersion, metadata, status }: Service,
  spec: ServiceSpec,
): Service {
  return { kind, apiVersion, metadata, spec, status };
}

export function replaceStatus(
  { kind, apiVersion, metadata, spec }: Service,
  status: ServiceStatus,
): Service {
  return { kind, apiVersion, metadata, spec, status };
}
