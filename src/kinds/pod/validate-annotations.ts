// Annotations of pods with a meaning in Kubernetes.
import { type FieldError, forbidden, invalid } from '../../meta/field-error.ts';
import {
  containerAppArmorPrefix,
  containerSeccompPrefix,
  podDeletionCostAnnotation,
  podSeccompAnnotation,
} from '../../meta/well-known-annotations.ts';
import { goQuote } from '../../schema/go-quote.ts';
import { mirrorAnnotation } from './mirror.ts';
import type { PodSpec } from './pod-spec.ts';
import { tolerationsAnnotation, validateTolerationsAnnotation } from './tolerations-annotation.ts';
import type { Pod } from './types.ts';

type Annotations = Readonly<Record<string, string>>;
const localProfile = 'localhost/';

/** `before` are the stored annotations: an invalid deletion cost that was stored may stay. */
export function validatePodAnnotations(
  annotations: Annotations,
  spec: PodSpec,
  field: string,
  before?: Annotations,
): readonly FieldError[] {
  const mirrored = annotations[mirrorAnnotation];
  const cost = annotations[podDeletionCostAnnotation];
  const mayCostAnything = before !== undefined && !isCost(before[podDeletionCostAnnotation]);
  return [
    ...(mirrored === undefined || spec.nodeName
      ? []
      : [
          invalid(
            `${field}[${mirrorAnnotation}]`,
            mirrored,
            'must set spec.nodeName if mirror pod annotation is set',
          ),
        ]),
    ...validateTolerationsAnnotation(annotations[tolerationsAnnotation] ?? '', field),
    ...(mayCostAnything || isCost(cost)
      ? []
      : [invalid(`${field}[${podDeletionCostAnnotation}]`, cost, 'must be a 32bit integer')]),
    ...Object.entries(annotations).flatMap(([key, value]) =>
      key === podSeccompAnnotation || key.startsWith(containerSeccompPrefix)
        ? validateSeccomp(value, `${field}.${key}`)
        : [],
    ),
    ...Object.entries(annotations).flatMap(([key, value]) =>
      key.startsWith(containerAppArmorPrefix) ? validateAppArmor(key, value, spec, field) : [],
    ),
  ];
}

/** A decimal 32-bit integer without plus sign and leading zeros. */
function isCost(text: string | undefined): boolean {
  if (text === undefined) return true;
  if (!/^(0|[1-9]\d*|-\d+)$/.test(text)) return false;
  const number = Number(text);
  return number >= -(2 ** 31) && number < 2 ** 31;
}

function validateSeccomp(profile: string, field: string): readonly FieldError[] {
  if (['runtime/default', 'docker/default', 'unconfined'].includes(profile)) return [];
  if (!profile.startsWith(localProfile)) {
    return [invalid(field, profile, 'must be a valid seccomp profile')];
  }
  const path = profile.slice(localProfile.length);
  return [
    ...(path.startsWith('/') ? [invalid(field, path, 'must be a relative path')] : []),
    ...(path.split('/').includes('..') ? [invalid(field, path, "must not contain '..'")] : []),
  ];
}

function validateAppArmor(
  key: string,
  profile: string,
  spec: PodSpec,
  field: string,
): readonly FieldError[] {
  const name = key.slice(containerAppArmorPrefix.length);
  const lists = [spec.initContainers, spec.containers, spec.ephemeralContainers];
  const isKnown = lists.some((list) => list?.some((container) => container.name === name));
  const isProfile =
    ['', 'runtime/default', 'unconfined'].includes(profile) || profile.startsWith(localProfile);
  return [
    ...(isKnown ? [] : [invalid(`${field}[${key}]`, name, 'container not found')]),
    ...(isProfile
      ? []
      : [
          invalid(
            `${field}[${key}]`,
            profile,
            `invalid AppArmor profile name: ${goQuote(profile)}`,
          ),
        ]),
  ];
}

const fixed: readonly (readonly [
  isMeant: (key: string) => boolean,
  changed: string,
  added: string,
])[] = [
  [
    (key) => key.startsWith(containerAppArmorPrefix),
    'may not remove or update AppArmor annotations',
    'may not add AppArmor annotations',
  ],
  [
    (key) => key === mirrorAnnotation,
    'may not remove or update mirror pod annotation',
    'may not add mirror pod annotation',
  ],
];

/** The mirror annotation and security profiles are immutable. */
export function validatePodAnnotationsUpdate(before: Pod, after: Pod): readonly FieldError[] {
  const field = 'metadata.annotations';
  const was = before.metadata.annotations ?? {};
  const is = after.metadata.annotations ?? {};
  const changed = (key: string, isNew: boolean) =>
    fixed.flatMap(([isMeant, changed, added]) =>
      isMeant(key) ? [forbidden(`${field}[${key}]`, isNew ? added : changed)] : [],
    );
  return [
    ...Object.keys(was).flatMap((key) => (is[key] === was[key] ? [] : changed(key, false))),
    ...Object.keys(is).flatMap((key) => (Object.hasOwn(was, key) ? [] : changed(key, true))),
    ...validatePodAnnotations(is, after.spec, field, was),
  ];
}
