// Strategic merge patch: like a merge patch, but lists of objects join by their merge key, lists of values join
// as sets, and directives ($patch, $retainKeys, $deleteFromPrimitiveList, $setElementOrder) say what merging
// alone cannot. The schema says how each field merges. Upstream: apimachinery's strategicpatch.
import { badRequest } from '../../meta/api-error.ts';
import { isJsonObject, type JsonObject } from '../../schema/json-object.ts';
import type { Schema, StructNode } from '../../schema/node.ts';
import { spendSteps } from '../../schema/work-budget.ts';
import { field, jsonTypeName, setField, withoutField } from './json-value.ts';
import { badPrimitiveList, badRetainKeys, unknownDirective } from './strategic-error.ts';
import {
  deletionPrefix,
  elementOrderPrefix,
  fieldSchema,
  strategyOf,
  withoutDirectives,
} from './strategic-field.ts';
import { mergeLists } from './strategic-list.ts';
import { applyElementOrders } from './strategic-order.ts';

export function applyStrategicMerge(
  schema: StructNode,
  document: unknown,
  patch: unknown,
): unknown {
  if (patch !== null && !isJsonObject(patch)) {
    throw badRequest(
      `json: cannot unmarshal ${jsonTypeName(patch)} into Go value of type map[string]interface {}`,
    );
  }
  return mergeMaps(schema, isJsonObject(document) ? document : {}, patch ?? {});
}

/** Looked at and copied. */
const stepsOfKey = 2;

/** `schema` is absent for fields that it does not know: they merge by default. */
function mergeMaps(
  schema: Schema | undefined,
  original: JsonObject,
  patch: JsonObject,
): JsonObject {
  if (Object.hasOwn(patch, '$patch')) return directedMap(patch);
  const retained = retainKeys({ original, patch });
  const ordered = applyElementOrders({ schema, ...retained, mergeMaps });
  const merged: Record<string, unknown> = { ...ordered.original };
  // A patch may name one item again and again, and each time all that it holds is copied.
  spendSteps(stepsOfKey * Object.keys(merged).length);
  for (const key of Object.keys(ordered.patch)) {
    spendSteps();
    const isDeletion = key.startsWith(deletionPrefix);
    const name = isDeletion ? listName(key) : key;
    const current = field(merged, name);
    const node = fieldSchema(schema, name);
    const result = mergeField({ node, current, value: ordered.patch[key], isDeletion });
    if (result === undefined) delete merged[name];
    else setField(merged, name, result);
  }
  return merged;
}

function directedMap(patch: JsonObject): JsonObject {
  const directive = patch.$patch;
  if (directive === 'replace') return withoutField(patch, '$patch');
  if (directive === 'delete') return {};
  throw unknownDirective(directive, patch);
}

function listName(directive: string): string {
  if (!directive.startsWith(`${deletionPrefix}/`)) throw badPrimitiveList();
  return directive.slice(deletionPrefix.length + 1);
}

type FieldMerge = {
  readonly node: Schema | undefined;
  readonly current: unknown;
  readonly value: unknown;
  /** The value lists what to take out of a list of values. */
  readonly isDeletion: boolean;
};

/** Undefined where the field goes. */
function mergeField({ node, current, value, isDeletion }: FieldMerge): unknown {
  if (value === null) return undefined;
  if (isJsonObject(current) && isJsonObject(value)) {
    return strategyOf(node) === 'replace' ? value : mergeMaps(node, current, value);
  }
  if (Array.isArray(current) && Array.isArray(value)) {
    // Deletion lists delete under every strategy.
    if (strategyOf(node) !== 'merge' && !isDeletion) return value;
    const list = node?.node === 'list' ? node : undefined;
    return mergeLists({ list, original: current, patch: value, isDeletion, mergeMaps });
  }
  return isDeletion ? current : withoutDirectives(value);
}

type Sides = { readonly original: JsonObject; readonly patch: JsonObject };

/** Keys that the directive does not name go, and the patch may not set others. */
function retainKeys({ original, patch }: Sides): Sides {
  if (!Object.hasOwn(patch, '$retainKeys')) return { original, patch };
  const keys = patch.$retainKeys;
  const rest = withoutField(patch, '$retainKeys');
  if (!Array.isArray(keys)) throw badRetainKeys();
  const isRetained = new Set<unknown>(keys);
  for (const key of Object.keys(rest)) {
    const isSpecial = key.startsWith(deletionPrefix) || key.startsWith(elementOrderPrefix);
    if (rest[key] !== null && !isSpecial && !isRetained.has(key)) throw badRetainKeys();
  }
  const kept = Object.entries(original).filter(([key]) => isRetained.has(key));
  return { original: Object.fromEntries(kept), patch: rest };
}
