// The input of every mode: the service ports of one address family with the endpoints that they may use. The model selects
// endpoints; a mode only sends packets to them.

export type Family = 'IPv4' | 'IPv6';
export type Protocol = 'TCP' | 'UDP' | 'SCTP';
export type TrafficPolicy = 'Cluster' | 'Local';

export type Endpoint = {
  readonly ip: string;
  readonly port: number;
  /** On this node. */
  readonly isLocal: boolean;
};

/**
 * One port of one Service in one family. The same object for as long as nothing about it changes, so that modes can
 * compare by identity. Every address and port below belongs to this service port alone: where several Services
 * request the same, the model has given it to one of them.
 */
export type ServicePort = {
  /** `namespace/name:portName/protocol`, as `default/web:http/TCP`; unique within the family. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  /** Empty when the Service does not name its only port. */
  readonly portName: string;
  readonly protocol: Protocol;
  readonly port: number;
  /** Absent if another Service has the same address and port, which only a faulty server allows. */
  readonly clusterIP?: string;
  readonly nodePort?: number;
  readonly externalIPs: readonly string[];
  readonly loadBalancerIPs: readonly string[];
  /** Who may reach the load balancer addresses; absent: all clients. A Service with ranges of the other family only has none here, as upstream. */
  readonly sourceRanges?: readonly string[];
  /** A load balancer address may also come from itself (a source range has this node's address). */
  readonly allowsBalancerItself: boolean;
  /** Sticks a client to its endpoint for so long after its last connection; absent: every connection is spread. */
  readonly affinitySeconds?: number;
  readonly internalPolicy: TrafficPolicy;
  readonly externalPolicy: TrafficPolicy;
  /** What traffic under policy Cluster may use, in a stable order. */
  readonly clusterEndpoints: readonly Endpoint[];
  /** What traffic under policy Local may use, in a stable order. */
  readonly localEndpoints: readonly Endpoint[];
  /** Whether any node has a usable endpoint: without one traffic is rejected, with one elsewhere it is dropped. */
  readonly hasEndpoints: boolean;
  readonly healthCheckNodePort?: number;
};

/** How traffic of this node's pods is distinguished from other traffic. */
export type LocalTraffic =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'cidr'; readonly cidr: string }
  | { readonly kind: 'interface'; readonly name: string }
  | { readonly kind: 'interface-prefix'; readonly prefix: string };

/** Where node ports answer: on every local address (loopback as the mode allows), or on these only. */
export type NodePortAddresses = 'all' | readonly string[];

/** What a family's rules depend on besides its service ports. A change of any of it is a full sync. */
export type NodeState = {
  readonly family: Family;
  readonly nodeName: string;
  /** Addresses of the node in this family, the primary one first. */
  readonly nodeIPs: readonly string[];
  readonly nodePortAddresses: NodePortAddresses;
  readonly localTraffic: LocalTraffic;
  readonly masqueradeAll: boolean;
  /** The packet mark that asks for masquerading, one bit; 0x4000 unless configured. */
  readonly masqueradeMark: number;
  /** All ranges of this family that cluster IPs come from. */
  readonly serviceCIDRs: readonly string[];
};

export type ProxyState = {
  readonly node: NodeState;
  readonly ports: ReadonlyMap<string, ServicePort>;
};

/** What differs from the previous state: some ports, or possibly everything. */
export type StateChange =
  | { readonly kind: 'full' }
  | { readonly kind: 'ports'; readonly keys: ReadonlySet<string> };
