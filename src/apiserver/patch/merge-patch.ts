// RFC 7386: objects merge, null removes, everything else replaces.
import { badRequest } from '../../meta/api-error.ts';
import { isJsonObject, type JsonObject } from '../../schema/json-object.ts';
import { spendSteps } from '../../schema/work-budget.ts';
import { field, jsonTypeName, setField } from './json-value.ts';

export function applyMergePatch(document: unknown, patch: unknown): unknown {
  if (patch === null) throw badRequest('Invalid JSON Patch');
  if (!isJsonObject(patch)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonTypeName(patch)} into Go value of type map[string]interface {}`,
    );
  }
  return merge(document, patch);
}

function merge(document: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const merged: Record<string, unknown> = isJsonObject(document) ? { ...document } : {};
  for (const key of Object.keys(patch)) {
    spendSteps();
    const value = patch[key];
    if (value === null) delete merged[key];
    else setField(merged, key, merge(field(merged as JsonObject, key), value));
  }
  return merged;
}
