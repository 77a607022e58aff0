// The identity of the pods of a StatefulSet: names and ordinals. Upstream: stateful_set_utils.go in
// pkg/controller/statefulset.
import type { ObjectMeta } from '../../meta/object.ts';
import type { StatefulSet } from './types.ts';

const maxOrdinal = 2 ** 31 - 1;

type Named = { readonly metadata: ObjectMeta };

/** Undefined for a name that does not end in an ordinal. */
export function memberOf({
  metadata,
}: Named): { readonly set: string; readonly ordinal: number } | undefined {
  const { name = '' } = metadata;
  const at = name.lastIndexOf('-');
  const digits = name.slice(at + 1);
  // Another form of the number, such as 01, would be a second pod of the ordinal.
  if (at < 1 || digits.length > 10 || !/^(0|[1-9][0-9]*)$/.test(digits)) return undefined;
  const ordinal = Number(digits);
  return ordinal > maxOrdinal ? undefined : { set: name.slice(0, at), ordinal };
}

export const memberName = ({ metadata }: Named, ordinal: number): string =>
  `${metadata.name}-${ordinal}`;

export const startOrdinal = ({ spec }: StatefulSet): number => spec.ordinals?.start ?? 0;

export const replicasOf = ({ spec }: StatefulSet): number => spec.replicas ?? 1;

export function isInRange(set: StatefulSet, ordinal: number): boolean {
  const start = startOrdinal(set);
  return ordinal >= start && ordinal < start + replicasOf(set);
}

/** `data-web-0` */
export const claimName = (template: Named, set: Named, ordinal: number): string =>
  `${template.metadata.name}-${set.metadata.name}-${ordinal}`;
