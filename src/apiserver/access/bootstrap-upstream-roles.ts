// Default roles of controllers that only kube-controller-manager has: with `--use-service-account-credentials` each of
// them has a service account. Upstream: plugin/pkg/auth/authorizer/rbac/bootstrappolicy/controller_policy.go.
import type { PolicyRule } from '../../kinds/rbac/types.ts';
import { allow, read, recordEvents } from './role-objects.ts';

const readWatch = 'list watch';
const claims = 'persistentvolumeclaims';
const volumes = 'persistentvolumes';
const storage = 'storage.k8s.io';
const dynamicResources = 'resource.k8s.io';

const volumeControllers: Readonly<Record<string, readonly PolicyRule[]>> = {
  'attachdetach-controller': [
    allow(readWatch, '', `${claims} ${volumes}`),
    allow(read, '', 'nodes'),
    allow('patch update', '', 'nodes/status'),
    allow(readWatch, '', 'pods'),
    allow('create delete get list watch', storage, 'volumeattachments'),
    allow(read, storage, 'csidrivers csinodes'),
    recordEvents,
  ],
  'selinux-warning-controller': [
    allow(read, '', `${claims} ${volumes} pods`),
    allow(read, storage, 'csidrivers'),
    recordEvents,
  ],
  'volumeattributesclass-protection-controller': [
    allow(read, '', `${claims} ${volumes}`),
    allow('get list update watch', storage, 'volumeattributesclasses'),
    recordEvents,
  ],
};

const workloadControllers: Readonly<Record<string, readonly PolicyRule[]>> = {
  'horizontal-pod-autoscaler': [
    allow(read, 'autoscaling', 'horizontalpodautoscalers'),
    allow('update', 'autoscaling', 'horizontalpodautoscalers/status'),
    allow('get update', '*', '*/scale'),
    allow('list', '', 'pods'),
    allow('list', 'metrics.k8s.io', 'pods'),
    allow('get list', 'custom.metrics.k8s.io', '*'),
    allow('get list', 'external.metrics.k8s.io', '*'),
    recordEvents,
  ],
};

const otherControllers: Readonly<Record<string, readonly PolicyRule[]>> = {
  'device-taint-eviction-controller': [
    allow('delete get list watch', '', 'pods'),
    allow('patch update', '', 'pods/status'),
    allow(read, dynamicResources, 'deviceclasses resourceclaims resourceslices'),
    recordEvents,
  ],
  'legacy-service-account-token-cleaner': [
    allow('get', '', 'configmaps', 'kube-apiserver-legacy-service-account-token-tracking'),
    allow('delete patch', '', 'secrets'),
  ],
  'resource-claim-controller': [
    allow(read, '', 'pods'),
    allow('update', '', 'pods/finalizers'),
    allow('create delete get list watch', dynamicResources, 'resourceclaims'),
    allow('patch update', dynamicResources, 'resourceclaims resourceclaims/status'),
    allow('patch update', '', 'pods/status'),
    recordEvents,
  ],
  'route-controller': [
    allow(readWatch, '', 'nodes'),
    allow('patch', '', 'nodes/status'),
    recordEvents,
  ],
  'ttl-controller': [allow('list patch update watch', '', 'nodes'), recordEvents],
  'validatingadmissionpolicy-status-controller': [
    allow(read, 'admissionregistration.k8s.io', 'validatingadmissionpolicies'),
    allow('get patch update', 'admissionregistration.k8s.io', 'validatingadmissionpolicies/status'),
    recordEvents,
  ],
};

/** By the name of the service account. */
export const rulesOfUpstreamControllers: Readonly<Record<string, readonly PolicyRule[]>> = {
  ...volumeControllers,
  ...workloadControllers,
  ...otherControllers,
};
