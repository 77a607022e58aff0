// The spec of pods and pod templates.
import * as s from '../../schema/node.ts';
import { localObjectReference } from '../object-reference.ts';
import { affinity, toleration, topologySpreadConstraint } from './affinity.ts';
import { container, ephemeralContainer } from './container.ts';
import { must } from './references.ts';
import { resourceList, resourceRequirements } from './resources.ts';
import { podSecurityContext } from './security.ts';
import { volume } from './volume.ts';

const mergedByName = {
  listType: 'map',
  keys: ['name'],
  mergeKey: 'name',
  patchStrategy: 'merge',
} as const;
const retainedByName = { ...mergedByName, patchStrategy: 'merge,retainKeys' } as const;

const hostAlias = s.struct(
  'HostAlias',
  {
    ip: must(s.string('Address.')),
    hostnames: s.list(s.string(), 'Names of the address.', { listType: 'atomic' }),
  },
  { numbers: [1, 2] },
);

const dnsConfigOption = s.struct(
  'PodDNSConfigOption',
  {
    name: s.string('Name of the option.'),
    value: s.pointer(s.string('Value, if the option takes one.')),
  },
  { numbers: [1, 2] },
);

const dnsConfig = s.struct(
  'PodDNSConfig',
  {
    nameservers: s.list(s.string(), 'Addresses of name servers.', { listType: 'atomic' }),
    searches: s.list(s.string(), 'Domains to search.', { listType: 'atomic' }),
    options: s.list(dnsConfigOption, 'Options of the resolver.', { listType: 'atomic' }),
  },
  { numbers: [1, 2, 3] },
);
export type PodDnsConfig = s.Static<typeof dnsConfig>;

const readinessGate = s.struct(
  'PodReadinessGate',
  {
    conditionType: must(s.string('Condition that must be true for the pod to be ready.')),
  },
  { numbers: [1] },
);

const podResourceClaim = s.struct(
  'PodResourceClaim',
  {
    name: must(s.string('Name by which containers refer to the claim.')),
    resourceClaimName: s.pointer(s.string('An existing claim.')),
    resourceClaimTemplateName: s.pointer(s.string('The template of a claim of its own.')),
  },
  { numbers: [1, 3, 4] },
);

export const podSpec = s.struct(
  'PodSpec',
  {
    volumes: s.list(volume, 'Volumes that containers can mount.', retainedByName),
    initContainers: s.list(container, 'Containers run in order before the others.', mergedByName),
    containers: must(s.list(container, 'The containers; at least one.', mergedByName)),
    ephemeralContainers: s.list(
      ephemeralContainer,
      'Containers added to a running pod for debugging.',
      mergedByName,
    ),
    restartPolicy: s.string('Always, OnFailure or Never; Always when empty.'),
    terminationGracePeriodSeconds: s.pointer(s.int64('Time for an orderly end; 30 when absent.')),
    activeDeadlineSeconds: s.pointer(s.int64('How long the pod may run.')),
    dnsPolicy: s.string('ClusterFirst, ClusterFirstWithHostNet, Default or None.'),
    nodeSelector: s.map(s.string(), 'Labels that the node must have.', { mapType: 'atomic' }),
    serviceAccountName: s.string('Service account under which the pod runs.'),
    serviceAccount: s.string('Old name of serviceAccountName.'),
    automountServiceAccountToken: s.pointer(s.boolean('Whether a token is mounted.')),
    nodeName: s.string('Node on which the pod runs; empty until it has one.'),
    hostNetwork: s.boolean('The pod uses the network of the node.'),
    hostPID: s.boolean('The pod sees the processes of the node.'),
    hostIPC: s.boolean('The pod shares the IPC namespace of the node.'),
    shareProcessNamespace: s.pointer(s.boolean('Containers see each other’s processes.')),
    securityContext: s.pointer(podSecurityContext, 'Identity and rights of all containers.'),
    imagePullSecrets: s.list(localObjectReference, 'Secrets for pulling images.', mergedByName),
    hostname: s.string('Host name of the pod; its name when empty.'),
    subdomain: s.string('Headless service that gives the pod its domain.'),
    affinity: s.pointer(affinity, 'Where the pod wants to run.'),
    schedulerName: s.string('Who chooses the node.'),
    tolerations: s.list(toleration, 'Taints that do not keep the pod away.', {
      listType: 'atomic',
    }),
    hostAliases: s.list(hostAlias, 'Lines for /etc/hosts.', {
      listType: 'map',
      keys: ['ip'],
      mergeKey: 'ip',
      patchStrategy: 'merge',
    }),
    priorityClassName: s.string('Class from which the priority comes.'),
    priority: s.pointer(s.int32('Priority, set by the server.')),
    dnsConfig: s.pointer(dnsConfig, 'Resolver settings beside those of dnsPolicy.'),
    readinessGates: s.list(readinessGate, 'Conditions that readiness needs besides containers.', {
      listType: 'atomic',
    }),
    runtimeClassName: s.pointer(s.string('Runtime class of the pod.')),
    enableServiceLinks: s.pointer(
      s.boolean('Services become environment variables; true when absent.'),
    ),
    preemptionPolicy: s.pointer(s.string('Never or PreemptLowerPriority.')),
    overhead: s.described(resourceList, 'What the runtime needs beside the containers.'),
    topologySpreadConstraints: s.list(topologySpreadConstraint, 'How pods are spread.', {
      listType: 'map',
      keys: ['topologyKey', 'whenUnsatisfiable'],
      mergeKey: 'topologyKey',
      patchStrategy: 'merge',
    }),
    setHostnameAsFQDN: s.pointer(s.boolean('The host name is the full domain name.')),
    os: s.pointer(
      s.struct('PodOS', { name: must(s.string('linux or windows.')) }, { numbers: [1] }),
      'Operating system of the containers.',
    ),
    hostUsers: s.pointer(s.boolean('False gives the pod a user namespace of its own.')),
    schedulingGates: s.list(
      s.struct(
        'PodSchedulingGate',
        { name: must(s.string('Name of the gate.')) },
        { numbers: [1] },
      ),
      'The pod waits for a node until the list is empty.',
      mergedByName,
    ),
    resourceClaims: s.list(podResourceClaim, 'Claims for devices.', retainedByName),
    resources: s.pointer(resourceRequirements, 'What the pod as a whole needs and may use.'),
    hostnameOverride: s.pointer(s.string('Host name of the pod in every respect but DNS.')),
    schedulingGroup: s.pointer(
      s.struct(
        'PodSchedulingGroup',
        {
          podGroupName: s.pointer(s.string('The group scheduled together.')),
        },
        { numbers: [1] },
      ),
      'Pods with which this one is scheduled.',
    ),
  },
  {
    numbers: [
      1, 20, 2, 34, 3, 4, 5, 6, 7, 8, 9, 21, 10, 11, 12, 13, 27, 14, 15, 16, 17, 18, 19, 22, 23, 24,
      25, 26, 28, 29, 30, 31, 32, 33, 35, 36, 37, 38, 39, 40, 41, 43,
    ],
  },
);
export type PodSpec = s.Static<typeof podSpec>;
