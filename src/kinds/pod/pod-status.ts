// The status of a pod.
import * as s from '../../schema/node.ts';
import { must, timeOrNull } from './references.ts';
import { resourceList, resourceRequirements } from './resources.ts';

const podCondition = s.struct(
  'PodCondition',
  {
    type: must(s.string('Name of the condition.')),
    observedGeneration: s.int64('Generation of the spec that it speaks of.'),
    status: must(s.string('True, False or Unknown.')),
    lastProbeTime: timeOrNull('When it was last checked.'),
    lastTransitionTime: timeOrNull('When its status last changed.'),
    reason: s.string('Why, in one word.'),
    message: s.string('Why, for people.'),
  },
  { numbers: [1, 7, 2, 3, 4, 5, 6] },
);
export type PodCondition = s.Static<typeof podCondition>;

const terminatedState = s.struct(
  'ContainerStateTerminated',
  {
    exitCode: must(s.int32('Exit code.')),
    signal: s.int32('Signal that ended it.'),
    reason: s.string('Why it ended, in one word.'),
    message: s.string('Its last message.'),
    startedAt: timeOrNull('When it started.'),
    finishedAt: timeOrNull('When it ended.'),
    containerID: s.string('Id of the container.'),
  },
  { numbers: [1, 2, 3, 4, 5, 6, 7] },
);

const containerState = s.struct(
  'ContainerState',
  {
    waiting: s.pointer(
      s.struct(
        'ContainerStateWaiting',
        {
          reason: s.string('What it waits for, in one word.'),
          message: s.string('What it waits for, for people.'),
        },
        { numbers: [1, 2] },
      ),
      'It has not started.',
    ),
    running: s.pointer(
      s.struct(
        'ContainerStateRunning',
        { startedAt: timeOrNull('When it started.') },
        { numbers: [1] },
      ),
      'It runs.',
    ),
    terminated: s.pointer(terminatedState, 'It has ended.'),
  },
  { numbers: [1, 2, 3] },
);
export type ContainerState = s.Static<typeof containerState>;

const volumeMountStatus = s.struct(
  'VolumeMountStatus',
  {
    name: must(s.string('The volume.')),
    mountPath: must(s.string('Where it is mounted.')),
    readOnly: s.boolean('The mount cannot be written.'),
    recursiveReadOnly: s.pointer(s.string('Whether mounts below are read-only too.')),
    volumeStatus: s.pointer(
      s.struct(
        'VolumeStatus',
        {
          image: s.pointer(
            s.struct(
              'ImageVolumeStatus',
              { imageRef: must(s.string('Digest of the image.')) },
              { numbers: [1] },
            ),
            'The image of the volume.',
          ),
        },
        { numbers: [1] },
      ),
      'What is known of the volume itself.',
    ),
  },
  { numbers: [1, 2, 3, 4, 5] },
);

const containerUser = s.struct(
  'ContainerUser',
  {
    linux: s.pointer(
      s.struct(
        'LinuxContainerUser',
        {
          uid: must(s.int64('User id.')),
          gid: must(s.int64('Group id.')),
          supplementalGroups: s.list(s.int64(), 'More groups.', { listType: 'atomic' }),
        },
        { numbers: [1, 2, 3] },
      ),
      'Identity on Linux.',
    ),
  },
  { numbers: [1] },
);

const resourceHealth = s.struct(
  'ResourceHealth',
  {
    resourceID: must(s.string('Id of the device.')),
    health: s.string('Healthy, Unhealthy or Unknown.'),
    message: s.pointer(s.string('More about the health, for people.')),
  },
  { numbers: [1, 2, 6] },
);

const resourceStatus = s.struct(
  'ResourceStatus',
  {
    name: must(s.string('Name of the resource.')),
    resources: s.list(resourceHealth, 'Health of its devices.', {
      listType: 'map',
      keys: ['resourceID'],
    }),
  },
  { numbers: [1, 2] },
);

const containerStatus = s.struct(
  'ContainerStatus',
  {
    name: must(s.string('Name of the container.')),
    state: s.described(containerState, 'Its state.'),
    lastState: s.described(containerState, 'How it last ended.'),
    ready: must(s.boolean('It passes its readiness probe.')),
    restartCount: must(s.int32('How often it was restarted.')),
    image: must(s.string('Image that it runs.')),
    imageID: must(s.string('Id of that image.')),
    containerID: s.string('Id of the container.'),
    started: s.pointer(s.boolean('It passed its startup probe.')),
    allocatedResources: s.described(resourceList, 'What the node set aside for it.'),
    resources: s.pointer(resourceRequirements, 'What is in force for it.'),
    volumeMounts: s.list(volumeMountStatus, 'Its mounts.', {
      listType: 'map',
      keys: ['mountPath'],
      mergeKey: 'mountPath',
      patchStrategy: 'merge',
    }),
    user: s.pointer(containerUser, 'Identity of its first process.'),
    allocatedResourcesStatus: s.list(resourceStatus, 'Health of its devices.', {
      listType: 'map',
      keys: ['name'],
      mergeKey: 'name',
      patchStrategy: 'merge',
    }),
    stopSignal: s.pointer(s.string('Signal that stops the container.')),
  },
  { numbers: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] },
);
export type ContainerStatus = s.Static<typeof containerStatus>;

const containerStatuses = (description: string) =>
  s.list(containerStatus, description, { listType: 'atomic' });

const extendedResourceClaimStatus = s.struct(
  'PodExtendedResourceClaimStatus',
  {
    requestMappings: must(
      s.list(
        s.struct(
          'ContainerExtendedResourceRequest',
          {
            containerName: must(s.string('The container.')),
            resourceName: must(s.string('The resource it asks for.')),
            requestName: must(s.string('The request of the claim.')),
          },
          { numbers: [1, 2, 3] },
        ),
        'Which request serves which container.',
        { listType: 'atomic' },
      ),
    ),
    resourceClaimName: must(s.string('The claim made for the pod.')),
  },
  { numbers: [1, 2] },
);

const resourceClaimStatus = s.struct(
  'PodResourceClaimStatus',
  {
    name: must(s.string('Name of the claim in the pod.')),
    resourceClaimName: s.pointer(s.string('Name of the claim object.')),
  },
  { numbers: [1, 2] },
);

const nodeAllocatableClaimStatus = s.struct(
  'NodeAllocatableResourceClaimStatus',
  {
    resourceClaimName: must(s.string('The claim.')),
    containers: s.list(s.string(), 'Containers that use it.', { listType: 'set' }),
    resources: must(s.described(resourceList, 'What it takes of the node.')),
  },
  { numbers: [1, 2, 3] },
);

export const podStatus = s.struct(
  'PodStatus',
  {
    observedGeneration: s.int64('Generation of the spec that the status speaks of.'),
    phase: s.string('Pending, Running, Succeeded, Failed or Unknown.'),
    conditions: s.list(podCondition, 'Conditions of the pod.', {
      listType: 'map',
      keys: ['type'],
      mergeKey: 'type',
      patchStrategy: 'merge',
    }),
    message: s.string('Why it is in this state, for people.'),
    reason: s.string('Why it is in this state, in one word.'),
    nominatedNodeName: s.string('Node on which room is being made.'),
    hostIP: s.string('Address of its node.'),
    hostIPs: s.list(
      s.struct('HostIP', { ip: must(s.string('Address.')) }, { numbers: [1] }),
      'Addresses of its node.',
      { listType: 'atomic', mergeKey: 'ip', patchStrategy: 'merge' },
    ),
    podIP: s.string('Address of the pod.'),
    podIPs: s.list(
      s.struct('PodIP', { ip: must(s.string('Address.')) }, { numbers: [1] }),
      'Addresses of the pod, one for each family; the first is podIP.',
      { listType: 'map', keys: ['ip'], mergeKey: 'ip', patchStrategy: 'merge' },
    ),
    startTime: s.pointer(s.time('When the node took the pod.')),
    initContainerStatuses: containerStatuses('States of the init containers.'),
    containerStatuses: containerStatuses('States of the containers.'),
    qosClass: s.string('Guaranteed, Burstable or BestEffort, from the resources.'),
    ephemeralContainerStatuses: containerStatuses('States of the ephemeral containers.'),
    resize: s.string('Old form of the resize conditions.'),
    resourceClaimStatuses: s.list(resourceClaimStatus, 'States of the claims.', {
      listType: 'map',
      keys: ['name'],
      mergeKey: 'name',
      patchStrategy: 'merge,retainKeys',
    }),
    extendedResourceClaimStatus: s.pointer(
      extendedResourceClaimStatus,
      'The claim behind extended resources.',
    ),
    allocatedResources: s.described(resourceList, 'What the node set aside for the pod.'),
    resources: s.pointer(resourceRequirements, 'What is in force for the pod.'),
    nodeAllocatableResourceClaimStatuses: s.list(
      nodeAllocatableClaimStatus,
      'What claims take of the node.',
      { listType: 'map', keys: ['resourceClaimName'] },
    ),
  },
  { numbers: [17, 1, 2, 3, 4, 11, 5, 16, 6, 12, 7, 10, 8, 9, 13, 14, 15, 18, 19, 20, 21] },
);
export type PodStatus = s.Static<typeof podStatus>;
