// An object as the API server would store it, or its error: defaults, reservation, preparation and validation of the kind.
import { kindName } from '../apiserver/objects/create-object.ts';
import { preserveIdentity } from '../apiserver/objects/update-object.ts';
import type { AnyKind } from '../kinds/definition.ts';
import { serviceDefinition } from '../kinds/service/definition.ts';
import type { Service } from '../kinds/service/types.ts';
import { invalid } from '../meta/api-error.ts';
import { type FieldError, joined } from '../meta/field-error.ts';
import { type KubeObject, objectKey, withMetadata } from '../meta/object.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../meta/validate-metadata.ts';
import { formatTime } from '../schema/time.ts';
import { madeUid } from './made-names.ts';
import type { Reserver } from './reserve-addresses.ts';

export type Admission = {
  readonly now: number;
  readonly reserver: Reserver;
};

/** Throws ApiError. The object must be decoded, and have its namespace. */
export function admitCreate(
  definition: AnyKind,
  sent: KubeObject,
  admission: Admission,
): KubeObject {
  const { now, reserver } = admission;
  const generation = definition.generationChanges === undefined ? {} : { generation: 1 };
  const named = withMetadata(sent, {
    ...sent.metadata,
    uid: madeUid(definition.kind, objectKey(sent.metadata)),
    ...generation,
    creationTimestamp: formatTime(now),
  });
  const defaulted: KubeObject = definition.defaults?.(named) ?? named;
  const reserved =
    definition === serviceDefinition ? reserver.reserve(defaulted as Service) : defaulted;
  const { prepareCreate, validateCreate } = definition.create;
  const object: KubeObject = prepareCreate?.(reserved, { now: formatTime(now) }) ?? reserved;
  const { namespaced, nameRule } = definition;
  refuse(definition, object, [
    validateObjectMeta({ meta: object.metadata, namespaced, nameRule }),
    validateCreate(object),
  ]);
  return object;
}

/** An object that an API server has stored keeps its identity and its status. */
export function admitStored(
  definition: AnyKind,
  stored: KubeObject,
  { reserver }: Admission,
): KubeObject {
  const { metadata, kind } = stored;
  const uid = metadata.uid ?? madeUid(kind, objectKey(metadata));
  const named = withMetadata(stored, { ...metadata, uid });
  const defaulted: KubeObject = definition.defaults?.(named) ?? named;
  return definition === serviceDefinition ? reserver.reserve(defaulted as Service) : defaulted;
}

export type AdmittedUpdate = {
  readonly before: KubeObject;
  /** Decoded. */
  readonly sent: KubeObject;
};

/** An update of a stored object. Throws ApiError. */
export function admitUpdate(
  definition: AnyKind,
  { before, sent }: AdmittedUpdate,
  { now, reserver }: Admission,
): KubeObject {
  const defaulted: KubeObject = definition.defaults?.(sent) ?? sent;
  const wanted = preserveIdentity(before, defaulted);
  const reserved =
    definition === serviceDefinition
      ? reserver.reserve(wanted as Service, before as Service)
      : wanted;
  const { prepareUpdate, validateUpdate } = definition.update;
  const prepared: KubeObject =
    prepareUpdate?.(before, reserved, { now: formatTime(now) }) ?? reserved;
  const grows = definition.generationChanges?.(before, prepared) ?? false;
  const generation = (before.metadata.generation ?? 0) + 1;
  const object = grows ? withMetadata(prepared, { ...prepared.metadata, generation }) : prepared;
  refuse(definition, object, [
    validateObjectMetaUpdate(before.metadata, object.metadata, 'metadata'),
    validateUpdate(before, object),
  ]);
  return object;
}

function refuse(
  definition: AnyKind,
  object: KubeObject,
  found: readonly (readonly FieldError[])[],
): void {
  const errors = joined(found);
  if (errors.length > 0) throw invalid(kindName(definition), object.metadata.name ?? '', errors);
}
