// The kinds that are served, in the order in which discovery lists them within their group.
import { certificateSigningRequestDefinition } from './certificate-signing-request/definition.ts';
import { clusterRoleDefinition } from './cluster-role/definition.ts';
import { clusterRoleBindingDefinition } from './cluster-role-binding/definition.ts';
import { configMapDefinition } from './config-map/definition.ts';
import { controllerRevisionDefinition } from './controller-revision/definition.ts';
import { cronJobDefinition } from './cron-job/definition.ts';
import { daemonSetDefinition } from './daemon-set/definition.ts';
import type { AnyKind } from './definition.ts';
import { deploymentDefinition } from './deployment/definition.ts';
import { endpointSliceDefinition } from './endpoint-slice/definition.ts';
import { endpointsDefinition } from './endpoints/definition.ts';
import { eventDefinition } from './event/definition.ts';
import { eventsEventDefinition } from './event/events-definition.ts';
import { ingressDefinition } from './ingress/definition.ts';
import { ingressClassDefinition } from './ingress-class/definition.ts';
import { ipAddressDefinition } from './ip-address/definition.ts';
import { jobDefinition } from './job/definition.ts';
import { leaseDefinition } from './lease/definition.ts';
import { limitRangeDefinition } from './limit-range/definition.ts';
import { namespaceDefinition } from './namespace/definition.ts';
import { nodeDefinition } from './node/definition.ts';
import { persistentVolumeDefinition } from './persistent-volume/definition.ts';
import { persistentVolumeClaimDefinition } from './persistent-volume-claim/definition.ts';
import { podDefinition } from './pod/definition.ts';
import { podDisruptionBudgetDefinition } from './pod-disruption-budget/definition.ts';
import { podTemplateDefinition } from './pod-template/definition.ts';
import { priorityClassDefinition } from './priority-class/definition.ts';
import { replicaSetDefinition } from './replica-set/definition.ts';
import { replicationControllerDefinition } from './replication-controller/definition.ts';
import { resourceQuotaDefinition } from './resource-quota/definition.ts';
import { roleDefinition } from './role/definition.ts';
import { roleBindingDefinition } from './role-binding/definition.ts';
import { secretDefinition } from './secret/definition.ts';
import { serviceDefinition } from './service/definition.ts';
import { serviceAccountDefinition } from './service-account/definition.ts';
import { serviceCidrDefinition } from './service-cidr/definition.ts';
import { statefulSetDefinition } from './stateful-set/definition.ts';
import { storageClassDefinition } from './storage-class/definition.ts';

export const allKinds: readonly AnyKind[] = [
  configMapDefinition,
  endpointsDefinition,
  eventDefinition,
  limitRangeDefinition,
  namespaceDefinition,
  nodeDefinition,
  persistentVolumeClaimDefinition,
  persistentVolumeDefinition,
  podDefinition,
  podTemplateDefinition,
  replicationControllerDefinition,
  resourceQuotaDefinition,
  secretDefinition,
  serviceAccountDefinition,
  serviceDefinition,
  controllerRevisionDefinition,
  daemonSetDefinition,
  deploymentDefinition,
  replicaSetDefinition,
  statefulSetDefinition,
  cronJobDefinition,
  jobDefinition,
  certificateSigningRequestDefinition,
  leaseDefinition,
  endpointSliceDefinition,
  eventsEventDefinition,
  ingressClassDefinition,
  ingressDefinition,
  ipAddressDefinition,
  serviceCidrDefinition,
  podDisruptionBudgetDefinition,
  clusterRoleBindingDefinition,
  clusterRoleDefinition,
  roleBindingDefinition,
  roleDefinition,
  priorityClassDefinition,
  storageClassDefinition,
];
