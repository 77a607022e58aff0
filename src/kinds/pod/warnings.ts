// Warnings about pods. Upstream: pkg/api/pod/warnings.go.

import { dns1123Label } from '../../meta/names.ts';
import type { ObjectMeta } from '../../meta/object.ts';
import { warningsForIP } from '../../meta/validate-ip.ts';
import { podSeccompAnnotation } from '../../meta/well-known-annotations.ts';
import { goQuote } from '../../schema/go-quote.ts';
import { claimSpecWarnings } from '../persistent-volume-claim/warnings.ts';
import type { PodSpec } from './pod-spec.ts';
import type { Pod } from './types.ts';
import type { Volume } from './volume.ts';
import { containerWarnings, fractionalQuantity, seccompWarning } from './warnings-containers.ts';
import { neighbourWarnings, placementWarnings } from './warnings-scheduling.ts';

export function podWarnings(pod: Pod): readonly string[] {
  const wrong = dns1123Label(pod.metadata.name ?? '');
  const name =
    "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended";
  return [
    ...(pod.metadata.name && wrong.length > 0 ? [`${name}: [${wrong.join(' ')}]`] : []),
    ...templateWarnings(pod, ''),
  ];
}

export function podStatusWarnings(_before: Pod, { status }: Pod): readonly string[] {
  const { podIPs = [], hostIPs = [] } = status;
  return [
    ...podIPs.flatMap(({ ip }, index) => warningsForIP(`status.podIPs[${index}].ip`, ip)),
    ...hostIPs.flatMap(({ ip }, index) => warningsForIP(`status.hostIPs[${index}].ip`, ip)),
  ];
}

type Template = {
  readonly metadata: Pick<ObjectMeta, 'annotations'>;
  readonly spec: PodSpec;
};

/** For a pod or a pod template; `path` is its path with a trailing dot. */
export function templateWarnings({ metadata, spec }: Template, path: string): readonly string[] {
  const field = `${path}spec`;
  const { annotations = {} } = metadata;
  const annotationsField = `${path}metadata.annotations`;
  return [
    ...placementWarnings(spec, field),
    ...oldAnnotations(annotations, annotationsField),
    ...(spec.volumes ?? []).flatMap((volume, index) =>
      volumeWarnings(volume, `${field}.volumes[${index}]`),
    ),
    ...repeated(spec.hostAliases ?? [], 'ip', `${field}.hostAliases`),
    ...repeated(spec.imagePullSecrets ?? [], 'name', `${field}.imagePullSecrets`),
    ...namelessSecrets(spec, field),
    ...['memory', 'ephemeral-storage'].flatMap((resource) =>
      fractionalQuantity(spec.overhead ?? {}, resource, `${field}.overhead`),
    ),
    ...oldSeccomp(spec, annotations, annotationsField),
    ...containerWarnings(spec, field, annotations, annotationsField),
    ...((spec.terminationGracePeriodSeconds ?? 0) < 0
      ? [
          `${field}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
        ]
      : []),
    ...neighbourWarnings(spec, field),
    ...oddAddresses(spec, field),
  ];
}

type Annotations = Readonly<Record<string, string>>;

const annotationMessages: Readonly<Record<string, string>> = {
  'scheduler.alpha.kubernetes.io/critical-pod':
    'non-functional in v1.16+; use the "priorityClassName" field instead',
  'security.alpha.kubernetes.io/sysctls':
    'non-functional in v1.11+; use the "sysctls" field instead',
  'security.alpha.kubernetes.io/unsafe-sysctls':
    'non-functional in v1.11+; use the "sysctls" field instead',
};

const oldAnnotations = (annotations: Annotations, field: string): readonly string[] =>
  Object.entries(annotationMessages).flatMap(([key, message]) =>
    Object.hasOwn(annotations, key) ? [`${field}[${key}]: ${message}`] : [],
  );

function oldSeccomp(
  { securityContext }: PodSpec,
  annotations: Annotations,
  field: string,
): readonly string[] {
  const isOld = Object.hasOwn(annotations, podSeccompAnnotation);
  return isOld && securityContext?.seccompProfile === undefined
    ? [seccompWarning(`${field}[${podSeccompAnnotation}]`)]
    : [];
}

const oldPlugins: readonly [plugin: keyof Volume, message: string, shown?: string][] = [
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'deprecated in v1.11'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  // Upstream's spelling.
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+', 'storageOS'],
  ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

function volumeWarnings(volume: Volume, field: string): readonly string[] {
  const template = volume.ephemeral?.volumeClaimTemplate;
  return [
    ...oldPlugins.flatMap(([plugin, message, shown = plugin]) =>
      volume[plugin] === undefined ? [] : [`${field}.${shown}: ${message}`],
    ),
    ...(template === undefined
      ? []
      : claimSpecWarnings(template.spec, `${field}.ephemeral.volumeClaimTemplate.spec`)),
  ];
}

function repeated<K extends 'ip' | 'name'>(
  items: readonly Readonly<Partial<Record<K, string>>>[],
  key: K,
  field: string,
): readonly string[] {
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const value = item[key] ?? '';
    if (!seen.has(value)) {
      seen.add(value);
      return [];
    }
    return [`${field}[${index}].${key}: duplicate ${key} ${goQuote(value)}`];
  });
}

const namelessSecrets = ({ imagePullSecrets = [] }: PodSpec, field: string): readonly string[] =>
  imagePullSecrets.flatMap(({ name }, index) =>
    name ? [] : [`${field}.imagePullSecrets[${index}].name: invalid empty name ""`],
  );

function oddAddresses({ dnsConfig, hostAliases = [] }: PodSpec, field: string): readonly string[] {
  return [
    ...(dnsConfig?.nameservers ?? []).flatMap((address, index) =>
      warningsForIP(`${field}.dnsConfig.nameservers[${index}]`, address),
    ),
    ...hostAliases.flatMap(({ ip }, index) =>
      warningsForIP(`${field}.hostAliases[${index}].ip`, ip),
    ),
  ];
}
