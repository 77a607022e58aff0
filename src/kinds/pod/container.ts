// Containers, init containers and ephemeral containers.
import * as s from '../../schema/node.ts';
import { envFromSource, envVar } from './environment.ts';
import { lifecycle, probe } from './probe.ts';
import { must } from './references.ts';
import { containerResizePolicy, resourceRequirements } from './resources.ts';
import { securityContext } from './security.ts';

const containerPort = s.struct(
  'ContainerPort',
  {
    name: s.string('Name by which services refer to the port.'),
    hostPort: s.int32('Port of the node that leads here.'),
    containerPort: must(s.int32('Port on which the container listens.')),
    protocol: s.string('TCP, UDP or SCTP; TCP when empty.', { default: 'TCP' }),
    hostIP: s.string('Address of the node to which the host port is bound.'),
  },
  { numbers: [1, 2, 3, 4, 5] },
);
export type ContainerPort = s.Static<typeof containerPort>;

const volumeMount = s.struct(
  'VolumeMount',
  {
    name: must(s.string('The volume.')),
    readOnly: s.boolean('The mount cannot be written.'),
    recursiveReadOnly: s.pointer(s.string('Whether mounts below are read-only too.')),
    mountPath: must(s.string('Where the volume appears in the container.')),
    subPath: s.string('Path in the volume to mount instead of its root.'),
    mountPropagation: s.pointer(s.string('How mounts pass between host and container.')),
    subPathExpr: s.string('As subPath, with $(NAME) for environment variables.'),
  },
  { numbers: [1, 2, 7, 3, 4, 5, 6] },
);
export type VolumeMount = s.Static<typeof volumeMount>;

const volumeDevice = s.struct(
  'VolumeDevice',
  {
    name: must(s.string('The persistent volume claim of the pod.')),
    devicePath: must(s.string('Where the device appears in the container.')),
  },
  { numbers: [1, 2] },
);

const containerRestartRule = s.struct(
  'ContainerRestartRule',
  {
    action: s.required(s.string('What to do when the rule applies; only Restart.')),
    exitCodes: s.pointer(
      s.struct(
        'ContainerRestartRuleOnExitCodes',
        {
          operator: s.required(s.string('In or NotIn.')),
          values: s.list(s.int32(), 'Exit codes.', { listType: 'set' }),
        },
        { numbers: [1, 2] },
      ),
      'The rule applies by exit code.',
    ),
  },
  { numbers: [1, 2] },
);

const containerFields = {
  name: must(s.string('Name of the container, a DNS label unique in the pod.')),
  image: s.string('Image to run.'),
  command: s.list(s.string(), 'Entry point, instead of the one of the image.', {
    listType: 'atomic',
  }),
  args: s.list(s.string(), 'Arguments of the entry point.', { listType: 'atomic' }),
  workingDir: s.string('Directory in which the entry point starts.'),
  ports: s.list(containerPort, 'Ports on which the container listens.', {
    listType: 'map',
    keys: ['containerPort', 'protocol'],
    mergeKey: 'containerPort',
    patchStrategy: 'merge',
  }),
  envFrom: s.list(envFromSource, 'Objects whose keys become variables.', { listType: 'atomic' }),
  env: s.list(envVar, 'Environment variables.', {
    listType: 'map',
    keys: ['name'],
    mergeKey: 'name',
    patchStrategy: 'merge',
  }),
  resources: s.described(resourceRequirements, 'What the container needs and may use.'),
  resizePolicy: s.list(containerResizePolicy, 'What happens when resources change.', {
    listType: 'atomic',
  }),
  restartPolicy: s.pointer(
    s.string('When this container is restarted; Always makes an init container a sidecar.'),
  ),
  restartPolicyRules: s.list(containerRestartRule, 'Rules that come before restartPolicy.', {
    listType: 'atomic',
  }),
  volumeMounts: s.list(volumeMount, 'Volumes that appear in the container.', {
    listType: 'map',
    keys: ['mountPath'],
    mergeKey: 'mountPath',
    patchStrategy: 'merge',
  }),
  volumeDevices: s.list(volumeDevice, 'Block devices that appear in the container.', {
    listType: 'map',
    keys: ['devicePath'],
    mergeKey: 'devicePath',
    patchStrategy: 'merge',
  }),
  livenessProbe: s.pointer(probe, 'Failing it restarts the container.'),
  readinessProbe: s.pointer(probe, 'Failing it takes the pod out of its services.'),
  startupProbe: s.pointer(probe, 'Until it succeeds, the other probes wait.'),
  lifecycle: s.pointer(lifecycle, 'Hooks at start and stop.'),
  terminationMessagePath: s.string('File in which the container may leave a last message.'),
  terminationMessagePolicy: s.string('File or FallbackToLogsOnError.'),
  imagePullPolicy: s.string('Always, Never or IfNotPresent.'),
  securityContext: s.pointer(securityContext, 'Identity and rights of the container.'),
  stdin: s.boolean('Keeps standard input open.'),
  stdinOnce: s.boolean('Closes standard input after the first client.'),
  tty: s.boolean('Gives the container a terminal.'),
} as const;

export const container = s.struct('Container', containerFields, {
  numbers: [
    1, 2, 3, 4, 5, 6, 19, 7, 8, 23, 24, 25, 9, 21, 10, 11, 22, 12, 13, 20, 14, 15, 16, 17, 18,
  ],
});
export type Container = s.Static<typeof container>;

export const ephemeralContainer = s.struct(
  'EphemeralContainer',
  {
    ...containerFields,
    targetContainerName: s.string('Container whose processes this one sees.'),
  },
  {
    numbers: [
      ...s.within(
        1,
        [1, 2, 3, 4, 5, 6, 19, 7, 8, 23, 24, 25, 9, 21, 10, 11, 22, 12, 13, 20, 14, 15, 16, 17, 18],
      ),
      2,
    ],
  },
);
export type EphemeralContainer = s.Static<typeof ephemeralContainer>;
