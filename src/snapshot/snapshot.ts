// The objects of a cluster at one moment, as far as they could be read. It is the input of trace, doctor and what-if, which never ask
// where it comes from: an API server, manifests, or the history of a store.
import { configMapDefinition } from '../kinds/config-map/definition.ts';
import type { ConfigMap } from '../kinds/config-map/types.ts';
import { deploymentDefinition } from '../kinds/deployment/definition.ts';
import type { Deployment } from '../kinds/deployment/types.ts';
import { endpointSliceDefinition } from '../kinds/endpoint-slice/definition.ts';
import type { EndpointSlice } from '../kinds/endpoint-slice/types.ts';
import { endpointsDefinition } from '../kinds/endpoints/definition.ts';
import type { Endpoints } from '../kinds/endpoints/types.ts';
import { eventDefinition } from '../kinds/event/definition.ts';
import type { Event } from '../kinds/event/types.ts';
import { ingressDefinition } from '../kinds/ingress/definition.ts';
import type { Ingress } from '../kinds/ingress/types.ts';
import { namespaceDefinition } from '../kinds/namespace/definition.ts';
import type { Namespace } from '../kinds/namespace/types.ts';
import { nodeDefinition } from '../kinds/node/definition.ts';
import type { Node } from '../kinds/node/types.ts';
import { podDefinition } from '../kinds/pod/definition.ts';
import type { Pod } from '../kinds/pod/types.ts';
import { podDisruptionBudgetDefinition } from '../kinds/pod-disruption-budget/definition.ts';
import type { PodDisruptionBudget } from '../kinds/pod-disruption-budget/types.ts';
import { replicaSetDefinition } from '../kinds/replica-set/definition.ts';
import type { ReplicaSet } from '../kinds/replica-set/types.ts';
import { serviceDefinition } from '../kinds/service/definition.ts';
import type { Service } from '../kinds/service/types.ts';
import { serviceCidrDefinition } from '../kinds/service-cidr/definition.ts';
import type { ServiceCIDR } from '../kinds/service-cidr/types.ts';

/** By the word under which a snapshot has them. */
export type SnapshotObjects = {
  readonly namespaces: readonly Namespace[];
  readonly nodes: readonly Node[];
  readonly services: readonly Service[];
  readonly endpointSlices: readonly EndpointSlice[];
  readonly endpoints: readonly Endpoints[];
  readonly pods: readonly Pod[];
  readonly serviceCIDRs: readonly ServiceCIDR[];
  readonly deployments: readonly Deployment[];
  readonly replicaSets: readonly ReplicaSet[];
  readonly podDisruptionBudgets: readonly PodDisruptionBudget[];
  readonly ingresses: readonly Ingress[];
  /** Of the namespace `kube-system` only: the configuration of the cluster's DNS and proxies. */
  readonly configMaps: readonly ConfigMap[];
  /** Warnings only. */
  readonly events: readonly Event[];
};

export type SnapshotKind = keyof SnapshotObjects;

export const snapshotKinds = {
  namespaces: namespaceDefinition,
  nodes: nodeDefinition,
  services: serviceDefinition,
  endpointSlices: endpointSliceDefinition,
  endpoints: endpointsDefinition,
  pods: podDefinition,
  serviceCIDRs: serviceCidrDefinition,
  deployments: deploymentDefinition,
  replicaSets: replicaSetDefinition,
  podDisruptionBudgets: podDisruptionBudgetDefinition,
  ingresses: ingressDefinition,
  configMaps: configMapDefinition,
  events: eventDefinition,
} as const;

export const allSnapshotKinds = Object.keys(snapshotKinds) as readonly SnapshotKind[];

/** A list that could not be read. What depends on it is unknown, which is not the same as empty. */
export type Unread = {
  readonly kind: SnapshotKind;
  /** Absent: in all namespaces, or of a resource without namespaces. */
  readonly namespace?: string;
  /** `forbidden`: the user lacks the right; `not-served`: the server does not have the resource. */
  readonly reason: 'forbidden' | 'not-served' | 'failed';
  /** The server's message. */
  readonly message: string;
};

export type Snapshot = {
  readonly objects: SnapshotObjects;
  readonly unread: readonly Unread[];
  /** Absent for manifests, and where the lists could not be read at one revision. */
  readonly revision?: string;
  /** Of a snapshot of an earlier moment: what was read as it is now, because its history is not retained. */
  readonly present?: readonly SnapshotKind[];
  /** The namespaces that were read; absent: all. */
  readonly namespaces?: readonly string[];
};

const noObjects: SnapshotObjects = {
  namespaces: [],
  nodes: [],
  services: [],
  endpointSlices: [],
  endpoints: [],
  pods: [],
  serviceCIDRs: [],
  deployments: [],
  replicaSets: [],
  podDisruptionBudgets: [],
  ingresses: [],
  configMaps: [],
  events: [],
};

export type SnapshotParts = Omit<Snapshot, 'objects' | 'unread'> & {
  readonly objects?: Partial<SnapshotObjects>;
  readonly unread?: readonly Unread[];
};

export function makeSnapshot({ objects, unread = [], ...rest }: SnapshotParts): Snapshot {
  return { ...rest, objects: { ...noObjects, ...objects }, unread };
}

/** Whether a missing object of the kind says anything: false where the list was refused. */
export function isRead(snapshot: Snapshot, kind: SnapshotKind, namespace?: string): boolean {
  return refusalOf(snapshot, kind, namespace) === undefined;
}

function refusalOf(
  { unread }: Snapshot,
  kind: SnapshotKind,
  namespace: string | undefined,
): Unread | undefined {
  return unread.find(
    (one) =>
      one.kind === kind &&
      (one.namespace === undefined || namespace === undefined || one.namespace === namespace),
  );
}

export type Absent = {
  /** `node "n1"`. */
  readonly what: string;
  readonly kind: SnapshotKind;
  readonly namespace?: string;
};

/** Why nothing is known of an object: with the server's words where reading was refused. */
export function absenceText(snapshot: Snapshot, { what, kind, namespace }: Absent): string {
  const refused = refusalOf(snapshot, kind, namespace);
  const where = namespace === undefined ? '' : ` in namespace "${namespace}"`;
  return refused === undefined
    ? `There is no ${what}${where}`
    : `Cannot read ${what}${where}: ${refused.message}`;
}
