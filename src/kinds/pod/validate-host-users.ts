// A pod with users of its own shares neither namespaces nor block devices with the node (upstream: validateHostUsers).
import { type FieldError, forbidden } from '../../meta/field-error.ts';
import type { PodSpec } from './pod-spec.ts';

const why = 'when `hostUsers` is false';

export function validateHostUsers(spec: PodSpec, field: string): readonly FieldError[] {
  if (spec.hostUsers !== false) return [];
  return [
    ...(spec.hostNetwork ? [forbidden(`${field}.hostNetwork`, why)] : []),
    // Upstream names these two as Go does.
    ...(spec.hostPID ? [forbidden(`${field}.HostPID`, why)] : []),
    ...(spec.hostIPC ? [forbidden(`${field}.HostIPC`, why)] : []),
    ...(['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((list) =>
      (spec[list] ?? []).flatMap(({ volumeDevices = [] }, index) =>
        volumeDevices.length === 0
          ? []
          : [forbidden(`${field}.${list}[${index}].volumeDevices`, why)],
      ),
    ),
  ];
}
