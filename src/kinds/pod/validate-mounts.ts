// Volume mounts and block devices of containers.
import {
  type FieldError,
  forbidden,
  invalid,
  notFoundValue,
  notSupported,
} from '../../meta/field-error.ts';
import type { Container, VolumeMount } from './container.ts';
import { validateFilled } from './field-rules.ts';
import { validateLocalPath } from './validate-volumes.ts';
import type { Volume } from './volume.ts';

/** Valid volumes of the pod by name. */
export type MountableVolumes = ReadonlyMap<string, Volume>;

/** Names and paths that the other list must not use. */
type Taken = { readonly names: ReadonlySet<string>; readonly paths: ReadonlySet<string> };

export function validateMounts(
  container: Container,
  volumes: MountableVolumes,
  field: string,
): readonly FieldError[] {
  const { volumeMounts = [], volumeDevices = [] } = container;
  const devices = takenBy(volumeDevices.map(({ name, devicePath }) => [name, devicePath]));
  const mounts = takenBy(volumeMounts.map(({ name, mountPath }) => [name, mountPath]));
  return [
    ...validateVolumeMounts(container, volumes, devices, `${field}.volumeMounts`),
    ...validateVolumeDevices(volumeDevices, volumes, mounts, `${field}.volumeDevices`),
  ];
}

/** Of a volume mounted twice only the last path counts, as in upstream's map. */
function takenBy(entries: readonly (readonly [name: string, path: string])[]): Taken {
  const paths = new Map(entries);
  return { names: new Set(paths.keys()), paths: new Set(paths.values()) };
}

function validateVolumeMounts(
  { volumeMounts = [], securityContext }: Container,
  volumes: MountableVolumes,
  devices: Taken,
  field: string,
): readonly FieldError[] {
  const paths = new Set<string>();
  return volumeMounts.flatMap((mount, index) => {
    const at = `${field}[${index}]`;
    const { name, mountPath } = mount;
    const repeated = paths.has(mountPath);
    paths.add(mountPath);
    return [
      ...validateFilled(`${at}.name`, name),
      ...(volumes.has(name) ? [] : [notFoundValue(`${at}.name`, name)]),
      ...validateFilled(`${at}.mountPath`, mountPath),
      ...(repeated ? [invalid(`${at}.mountPath`, mountPath, 'must be unique')] : []),
      ...(devices.names.has(name)
        ? [invalid(`${at}.name`, name, 'must not already exist in volumeDevices')]
        : []),
      ...(devices.paths.has(mountPath)
        ? [
            invalid(
              `${at}.mountPath`,
              mountPath,
              'must not already exist as a path in volumeDevices',
            ),
          ]
        : []),
      ...validateSubPaths(mount, field, at),
      // Upstream's path lacks the index for these two.
      ...validatePropagation(mount, securityContext?.privileged === true, field),
      ...validateRecursiveReadOnly(mount, `${field}.recursiveReadOnly`),
    ];
  });
}

function validatePropagation(
  { mountPropagation }: VolumeMount,
  isPrivileged: boolean,
  field: string,
): readonly FieldError[] {
  const at = `${field}.mountPropagation`;
  const choices = ['Bidirectional', 'HostToContainer', 'None'];
  return [
    ...(mountPropagation === undefined || choices.includes(mountPropagation)
      ? []
      : [notSupported(at, mountPropagation, choices)]),
    ...(mountPropagation === 'Bidirectional' && !isPrivileged
      ? [
          forbidden(
            at,
            'Bidirectional mount propagation is available only to privileged containers',
          ),
        ]
      : []),
  ];
}

function validateRecursiveReadOnly(
  { recursiveReadOnly, readOnly, mountPropagation }: VolumeMount,
  field: string,
): readonly FieldError[] {
  if (recursiveReadOnly === undefined || recursiveReadOnly === 'Disabled') return [];
  const choices = ['Disabled', 'Enabled', 'IfPossible'];
  if (!choices.includes(recursiveReadOnly))
    return [notSupported(field, recursiveReadOnly, choices)];
  return [
    ...(readOnly ? [] : [forbidden(field, 'may only be specified when readOnly is true')]),
    ...(mountPropagation === undefined || mountPropagation === 'None'
      ? []
      : [forbidden(field, 'may only be specified when mountPropagation is None or not specified')]),
  ];
}

/** Upstream reports bad paths on the list, `field`, and what excludes each other on the mount. */
function validateSubPaths(mount: VolumeMount, field: string, at: string): readonly FieldError[] {
  const { subPath = '', subPathExpr = '' } = mount;
  return [
    ...(subPath === '' ? [] : validateLocalPath(subPath, `${field}.subPath`)),
    ...(subPathExpr !== '' && subPath !== ''
      ? [
          invalid(
            `${at}.subPathExpr`,
            subPathExpr,
            'subPathExpr and subPath are mutually exclusive',
          ),
        ]
      : []),
    ...(subPathExpr === '' ? [] : validateLocalPath(subPathExpr, `${field}.subPathExpr`)),
  ];
}

function validateVolumeDevices(
  devices: NonNullable<Container['volumeDevices']>,
  volumes: MountableVolumes,
  mounts: Taken,
  field: string,
): readonly FieldError[] {
  const names = new Set<string>();
  const paths = new Set<string>();
  return devices.flatMap(({ name, devicePath: path }, index) => {
    const at = `${field}[${index}]`;
    const leavesRoot = path.split('/').includes('..');
    const errors = [
      ...validateFilled(`${at}.name`, name),
      ...(names.has(name) ? [invalid(`${at}.name`, name, 'must be unique')] : []),
      ...validateDeviceSource(name, volumes, `${at}.name`),
      ...validateFilled(`${at}.devicePath`, path),
      ...(paths.has(path) ? [invalid(`${at}.devicePath`, path, 'must be unique')] : []),
      ...(leavesRoot
        ? [invalid(`${at}.devicePath`, path, "can not contain backsteps ('..')")]
        : []),
      ...(mounts.names.has(name)
        ? [invalid(`${at}.name`, name, 'must not already exist in volumeMounts')]
        : []),
      ...(mounts.paths.has(path)
        ? [invalid(`${at}.devicePath`, path, 'must not already exist as a path in volumeMounts')]
        : []),
    ];
    if (name !== '') names.add(name);
    if (!leavesRoot) paths.add(path);
    return errors;
  });
}

function validateDeviceSource(
  name: string,
  volumes: MountableVolumes,
  field: string,
): readonly FieldError[] {
  const volume = volumes.get(name);
  if (volume === undefined) return [notFoundValue(field, name)];
  const detail =
    'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
  return volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined
    ? []
    : [invalid(field, name, detail)];
}
