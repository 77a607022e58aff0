import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { must, timeOrNull } from '../pod/references.ts';
import { resourceList } from '../pod/resources.ts';
import { nodeConfigSource, nodeConfigStatus } from './config.ts';

const taint = s.struct(
  'Taint',
  {
    key: must(s.string('Key of the taint.')),
    value: s.string('Value of the taint.'),
    effect: must(s.string('NoSchedule, PreferNoSchedule or NoExecute.')),
    timeAdded: s.pointer(s.time('When the taint was added.')),
  },
  { numbers: [1, 2, 3, 4] },
);
export type Taint = s.Static<typeof taint>;

const nodeSpec = s.struct(
  'NodeSpec',
  {
    podCIDR: s.string('Range from which pods of the node get addresses.'),
    podCIDRs: s.list(s.string(), 'Those ranges, one for each family; the first is podCIDR.', {
      listType: 'set',
      patchStrategy: 'merge',
    }),
    providerID: s.string('Id of the machine at its cloud.'),
    unschedulable: s.boolean('No new pods are put here.'),
    taints: s.list(taint, 'What keeps pods away that do not tolerate it.', { listType: 'atomic' }),
    configSource: s.pointer(nodeConfigSource, 'No longer used.'),
    externalID: s.string('No longer used.'),
  },
  { numbers: [1, 7, 3, 4, 5, 6, 2] },
);
export type NodeSpec = s.Static<typeof nodeSpec>;

const nodeCondition = s.struct(
  'NodeCondition',
  {
    type: must(s.string('Name of the condition.')),
    status: must(s.string('True, False or Unknown.')),
    lastHeartbeatTime: timeOrNull('When it was last reported.'),
    lastTransitionTime: timeOrNull('When its status last changed.'),
    reason: s.string('Why, in one word.'),
    message: s.string('Why, for people.'),
  },
  { numbers: [1, 2, 3, 4, 5, 6] },
);
export type NodeCondition = s.Static<typeof nodeCondition>;

const nodeAddress = s.struct(
  'NodeAddress',
  {
    type: must(s.string('Hostname, InternalIP, ExternalIP, InternalDNS or ExternalDNS.')),
    address: must(s.string('The address.')),
  },
  { numbers: [1, 2] },
);
export type NodeAddress = s.Static<typeof nodeAddress>;

const nodeSystemInfo = s.struct(
  'NodeSystemInfo',
  {
    machineID: must(s.string('Machine id.')),
    systemUUID: must(s.string('Id that the hardware reports.')),
    bootID: must(s.string('Id of this boot.')),
    kernelVersion: must(s.string('Version of the kernel.')),
    osImage: must(s.string('Name of the operating system.')),
    containerRuntimeVersion: must(s.string('Name and version of the container runtime.')),
    kubeletVersion: must(s.string('Version of the node agent.')),
    kubeProxyVersion: must(s.string('No longer used.')),
    operatingSystem: must(s.string('linux or windows.')),
    architecture: must(s.string('Processor architecture.')),
    swap: s.pointer(
      s.struct(
        'NodeSwapStatus',
        { capacity: s.pointer(s.int64('Bytes of swap.')) },
        { numbers: [1] },
      ),
      'Swap of the node.',
    ),
  },
  { numbers: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] },
);

const containerImage = s.struct(
  'ContainerImage',
  {
    names: s.always(s.list(s.string(), 'Names of the image.', { listType: 'atomic' })),
    sizeBytes: s.int64('Size of the image.'),
  },
  { numbers: [1, 2] },
);

const attachedVolume = s.struct(
  'AttachedVolume',
  {
    name: must(s.string('The volume.')),
    devicePath: must(s.string('Its device.')),
  },
  { numbers: [1, 2] },
);

const runtimeHandler = s.struct(
  'NodeRuntimeHandler',
  {
    name: s.always(s.string('Name of the handler; empty for the default one.')),
    features: s.pointer(
      s.struct(
        'NodeRuntimeHandlerFeatures',
        {
          recursiveReadOnlyMounts: s.pointer(s.boolean('Mounts can be read-only in depth.')),
          userNamespaces: s.pointer(s.boolean('Pods can have user namespaces.')),
        },
        { numbers: [1, 2] },
      ),
      'What the handler can do.',
    ),
  },
  { numbers: [1, 2] },
);

const byType = {
  listType: 'map',
  keys: ['type'],
  mergeKey: 'type',
  patchStrategy: 'merge',
} as const;
const atomic = { listType: 'atomic' } as const;

const nodeStatus = s.struct(
  'NodeStatus',
  {
    capacity: s.described(resourceList, 'What the node has.'),
    allocatable: s.described(resourceList, 'What pods may use of it; capacity when absent.'),
    phase: s.string('No longer used.'),
    conditions: s.list(nodeCondition, 'Conditions of the node.', byType),
    addresses: s.list(nodeAddress, 'Addresses of the node.', byType),
    daemonEndpoints: s.struct(
      'NodeDaemonEndpoints',
      {
        kubeletEndpoint: s.struct(
          'DaemonEndpoint',
          { Port: must(s.int32('Port.')) },
          { description: 'Where the node agent listens.', numbers: [1] },
        ),
      },
      { description: 'Ports of the programs that run on the node.', numbers: [1] },
    ),
    nodeInfo: s.described(nodeSystemInfo, 'Ids and versions of the machine.'),
    images: s.list(containerImage, 'Images on the node.', atomic),
    volumesInUse: s.list(s.string(), 'Volumes that are mounted.', atomic),
    volumesAttached: s.list(attachedVolume, 'Volumes that are attached.', atomic),
    config: s.pointer(nodeConfigStatus, 'No longer used.'),
    runtimeHandlers: s.list(runtimeHandler, 'Runtime handlers of the node.', atomic),
    features: s.pointer(
      s.struct(
        'NodeFeatures',
        {
          supplementalGroupsPolicy: s.pointer(
            s.boolean('The runtime knows supplementalGroupsPolicy.'),
          ),
        },
        { numbers: [1] },
      ),
      'What the runtime can do.',
    ),
    declaredFeatures: s.list(s.string(), 'What the node agent can do.', atomic),
  },
  { numbers: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14] },
);
export type NodeStatus = s.Static<typeof nodeStatus>;

export const nodeSchema = s.struct(
  'Node',
  {
    ...objectFields,
    spec: s.described(nodeSpec, 'The wanted state.'),
    status: s.described(nodeStatus, 'The state as last reported.'),
  },
  { description: 'A machine on which pods run.', numbers: [0, 0, 1, 2, 3] },
);

export type Node = KubeObject & { readonly spec: NodeSpec; readonly status: NodeStatus };
