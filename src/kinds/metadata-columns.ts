// Table columns that most kinds share. Clients see the descriptions, so they are Kubernetes' own.
import type { KubeObject } from '../meta/object.ts';
import { humanDuration, parseTime } from '../schema/time.ts';
import type { Column } from './definition.ts';

const creationDescription =
  'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata';

export const nameColumn: Column<KubeObject> = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description:
    'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names',
  cell: (object) => object.metadata.name ?? '',
};

export const ageColumn: Column<KubeObject> = {
  name: 'Age',
  type: 'string',
  description: creationDescription,
  cell: (object, now) => timeSince(object.metadata.creationTimestamp, now),
};

/** For kinds without an age column. */
export const createdAtColumn: Column<KubeObject> = {
  name: 'Created At',
  type: 'date',
  description: creationDescription,
  cell: (object) => object.metadata.creationTimestamp ?? null,
};

/** `5s`, `3m12s`, or `<unknown>` for a time that is not set. */
export function timeSince(time: string | null | undefined, now: number): string {
  const then = time ? parseTime(time) : undefined;
  return then === undefined ? '<unknown>' : humanDuration(now - then);
}
