// Security contexts.
import * as s from '../../schema/node.ts';
import { must } from './references.ts';

const seLinuxOptions = s.struct(
  'SELinuxOptions',
  {
    user: s.string('User part of the label.'),
    role: s.string('Role part of the label.'),
    type: s.string('Type part of the label.'),
    level: s.string('Level part of the label.'),
  },
  { numbers: [1, 2, 3, 4] },
);

const windowsOptions = s.struct(
  'WindowsSecurityContextOptions',
  {
    gmsaCredentialSpecName: s.pointer(s.string('Name of the GMSA credential spec.')),
    gmsaCredentialSpec: s.pointer(s.string('The GMSA credential spec itself.')),
    runAsUserName: s.pointer(s.string('User that runs the entry point.')),
    hostProcess: s.pointer(s.boolean('The container runs as a process of the host.')),
  },
  { numbers: [1, 2, 3, 4] },
);

const profileFields = {
  type: must(s.string('RuntimeDefault, Unconfined or Localhost.')),
  localhostProfile: s.pointer(s.string('Profile on the node, for type Localhost.')),
} as const;

const seccompProfile = s.struct('SeccompProfile', profileFields, { numbers: [1, 2] });
const appArmorProfile = s.struct('AppArmorProfile', profileFields, { numbers: [1, 2] });
export type SecurityProfile = s.Static<typeof seccompProfile>;

const capabilities = s.struct(
  'Capabilities',
  {
    add: s.list(s.string(), 'Capabilities to add.', { listType: 'atomic' }),
    drop: s.list(s.string(), 'Capabilities to take away.', { listType: 'atomic' }),
  },
  { numbers: [1, 2] },
);

export const securityContext = s.struct(
  'SecurityContext',
  {
    capabilities: s.pointer(capabilities, 'Kernel capabilities added and dropped.'),
    privileged: s.pointer(s.boolean('The container is as mighty as root on the host.')),
    seLinuxOptions: s.pointer(seLinuxOptions, 'SELinux label of the container.'),
    windowsOptions: s.pointer(windowsOptions, 'Settings that only Windows has.'),
    runAsUser: s.pointer(s.int64('User id of the entry point.')),
    runAsGroup: s.pointer(s.int64('Group id of the entry point.')),
    runAsNonRoot: s.pointer(s.boolean('The container must not run as user 0.')),
    readOnlyRootFilesystem: s.pointer(s.boolean('The root file system cannot be written.')),
    allowPrivilegeEscalation: s.pointer(
      s.boolean('A process may gain more rights than its parent.'),
    ),
    procMount: s.pointer(s.string('How /proc is mounted: Default or Unmasked.')),
    seccompProfile: s.pointer(seccompProfile, 'System call filter.'),
    appArmorProfile: s.pointer(appArmorProfile, 'AppArmor profile.'),
  },
  { numbers: [1, 2, 3, 10, 4, 8, 5, 6, 7, 9, 11, 12] },
);
export type SecurityContext = s.Static<typeof securityContext>;

const sysctl = s.struct(
  'Sysctl',
  {
    name: must(s.string('Name of the kernel setting.')),
    value: must(s.string('Its value.')),
  },
  { numbers: [1, 2] },
);

export const podSecurityContext = s.struct(
  'PodSecurityContext',
  {
    seLinuxOptions: s.pointer(seLinuxOptions, 'SELinux label of all containers.'),
    windowsOptions: s.pointer(windowsOptions, 'Settings that only Windows has.'),
    runAsUser: s.pointer(s.int64('User id of entry points.')),
    runAsGroup: s.pointer(s.int64('Group id of entry points.')),
    runAsNonRoot: s.pointer(s.boolean('Containers must not run as user 0.')),
    supplementalGroups: s.list(s.int64(), 'More groups of the first process.', {
      listType: 'atomic',
    }),
    supplementalGroupsPolicy: s.pointer(
      s.string('Merge or Strict: whether the image adds groups.'),
    ),
    fsGroup: s.pointer(s.int64('Group that owns the volumes.')),
    sysctls: s.list(sysctl, 'Kernel settings of the pod.', { listType: 'atomic' }),
    fsGroupChangePolicy: s.pointer(
      s.string('Always or OnRootMismatch: when ownership is changed.'),
    ),
    seccompProfile: s.pointer(seccompProfile, 'System call filter.'),
    appArmorProfile: s.pointer(appArmorProfile, 'AppArmor profile.'),
    seLinuxChangePolicy: s.pointer(
      s.string('MountOption or Recursive: how volumes get the label.'),
    ),
  },
  { numbers: [1, 8, 2, 6, 3, 4, 12, 5, 7, 9, 10, 11, 13] },
);
