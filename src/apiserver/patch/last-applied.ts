// The annotation of client-side apply, where `kubectl apply --server-side` meets an object that `kubectl apply`
// made: fields in the annotation that no other manager has changed are taken over from kubectl, and the annotation
// is updated, so that client-side apply still works. Only for the manager that kubectl uses by default.
import type { KubeObject } from '../../meta/object.ts';
import { lastAppliedAnnotation } from '../../meta/well-known-annotations.ts';
import { isJsonObject, type JsonObject } from '../../schema/json-object.ts';
import { isTextTooDeep } from '../../schema/nesting.ts';
import type { StructNode } from '../../schema/node.ts';
import { compareObjects } from './compare-objects.ts';
import { difference, emptySet, type FieldSet } from './fieldset.ts';
import { fieldsOf } from './from-object.ts';
import { field } from './json-value.ts';
import { typedErrors } from './typed-errors.ts';

/** The limit of all annotations together; beyond it the object has no such annotation. */
const maxAnnotationBytes = 256 * 1024;

/** The fields of others that kubectl may take without force. */
export function takenOverFields(schema: StructNode, live: KubeObject): FieldSet {
  const lastApplied = parse(live.metadata.annotations?.[lastAppliedAnnotation] ?? '');
  if (lastApplied?.apiVersion !== live.apiVersion) return emptySet;
  if (typedErrors(schema, lastApplied) !== '') return emptySet;
  const { changed, removed } = compareObjects(schema, lastApplied, live as unknown as JsonObject);
  return difference(difference(fieldsOf(schema, lastApplied), changed), removed);
}

function parse(text: string): JsonObject | undefined {
  if (text === '' || isTextTooDeep(text)) return undefined;
  try {
    const value = JSON.parse(text) as unknown;
    return isJsonObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The merged object with the annotation, if it has it, made to say what was just applied. */
export function withLastApplied(merged: JsonObject, applied: JsonObject): JsonObject {
  const metadata = fieldsIn(merged, 'metadata');
  const annotations = fieldsIn(metadata, 'annotations');
  if ((field(annotations, lastAppliedAnnotation) ?? '') === '') return merged;
  const updated = {
    ...annotations,
    [lastAppliedAnnotation]: `${JSON.stringify(sorted(withoutAnnotation(applied)))}\n`,
  };
  const size = Object.entries(updated).reduce(
    (sum, [k, v]) => sum + Buffer.byteLength(k + String(v)),
    0,
  );
  const { [lastAppliedAnnotation]: _dropped, ...others } = updated;
  const kept = size > maxAnnotationBytes ? others : updated;
  return { ...merged, metadata: { ...metadata, annotations: kept } };
}

const fieldsIn = (object: JsonObject, key: string): JsonObject => {
  const value = field(object, key);
  return isJsonObject(value) ? value : {};
};

function withoutAnnotation(applied: JsonObject): JsonObject {
  const metadata = fieldsIn(applied, 'metadata');
  const { [lastAppliedAnnotation]: _dropped, ...others } = fieldsIn(metadata, 'annotations');
  const { annotations: _annotations, ...rest } = metadata;
  const kept = Object.keys(others).length === 0 ? rest : { ...rest, annotations: others };
  return { ...applied, metadata: kept };
}

/** As Go writes maps: keys in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}
