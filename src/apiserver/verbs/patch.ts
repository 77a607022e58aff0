// PATCH in its four forms: JSON patch, merge patch, strategic merge patch, and server-side apply.
import { badRequest } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import { findDuplicateFields } from '../../schema/duplicates.ts';
import type { JsonObject } from '../../schema/json-object.ts';
import { checkValues } from '../limits/check-values.ts';
import { runSteps, spending } from '../limits/pace.ts';
import type { ApiResponse } from '../message.ts';
import { updateObject } from '../objects/update-object.ts';
import { unstructuredError } from '../patch/from-unstructured.ts';
import { duplicateField, jsonPatchProblems } from '../patch/json-patch.ts';
import { keepReset, keepTimes } from '../patch/managed-fields.ts';
import { applySteps } from '../patch/server-side-apply.ts';
import {
  decodeValue,
  kindMismatch,
  notAnObject,
  noVersionKind,
  repeatedKeys,
  typed,
  unknownField,
} from '../request/decode-body.ts';
import { withoutRepeatedOwners } from '../request/owner-references.ts';
import { parseWriteOptions, type WriteOptions } from '../request/write-options.ts';
import { parseYamlText } from '../yaml/parse-yaml-text.ts';
import { answerObject, assertAcceptable } from './answer-object.ts';
import { type Call, createOnUpdate, namespaceOf, rulesOf, writeRequest } from './call.ts';
import { checkIdentity, missingName } from './check-identity.ts';
import {
  applyPatch,
  invalidPatch,
  type ParsedPatch,
  parsePatch,
  patchTypeOf,
} from './parse-patch.ts';

export async function patch(call: Call): Promise<ApiResponse> {
  assertAcceptable(call);
  const type = patchTypeOf(call);
  const options = parseWriteOptions(call.request.query, 'PatchOptions', type === 'apply');
  const { buffer, byteOffset, byteLength } = await call.request.body();
  call.pace.grow(byteLength);
  const text = Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
  if (type === 'apply') return apply(call, options, text);
  const parsed = parsePatch(type, text);
  if (call.pace.isLarge()) await call.pace.pause();
  return change(call, options, parsed);
}

async function change(
  call: Call,
  options: WriteOptions,
  parsed: ParsedPatch,
): Promise<ApiResponse> {
  const { context, resource, info } = call;
  const { definition } = resource;
  const { cached } = await updateObject(context, {
    resource,
    namespace: namespaceOf(call),
    name: info.name,
    subresource: info.subresource,
    rules: rulesOf(call),
    async desired(live) {
      if (live === undefined) throw new Error('a patch needs a live object');
      const result = await decodePatched(call, options, parsed, live);
      if (call.pace.isLarge()) await call.pace.pause();
      const wanted = withoutRepeatedOwners(result, 'patch', call.warn);
      checkIdentity(call, wanted);
      return definition.defaults?.(wanted) ?? wanted;
    },
    needsVersion: false,
    checksUid: false,
    write: writeRequest(call, options),
  });
  return answerObject(call, 200, cached);
}

async function decodePatched(
  call: Call,
  options: WriteOptions,
  parsed: ParsedPatch,
  live: KubeObject,
): Promise<KubeObject> {
  const { definition } = call.resource;
  const raw = spending(call.pace, () => applyPatch(parsed, definition.schema, live));
  if (call.pace.isLarge()) {
    await call.pace.pause();
    checkValues(raw, 'the object');
  }
  const mistyped =
    parsed.type === 'strategic' ? unstructuredError(definition.schema, raw) : undefined;
  if (mistyped !== undefined) throw invalidPatch(parsed, raw, mistyped);
  if (Array.isArray(raw)) throw invalidPatch(parsed, raw, noVersionKind(notAnObject(raw)));
  checkKind(call, parsed, raw as JsonObject);
  // What the patch did not change was decoded when it was written.
  const source = { raw, known: live };
  const { object, error, problems } = await decodeValue(definition.schema, source, call.pace);
  if (error !== undefined) throw invalidPatch(parsed, raw, error);
  if (options.fieldValidation !== 'Ignore') {
    const found = [...problemsOf(parsed), ...problems.unknown.map(unknownField)];
    if (found.length > 0 && options.fieldValidation === 'Strict') {
      throw invalidPatch(parsed, raw, `strict decoding error: ${found.join(', ')}`);
    }
    for (const problem of found) call.warn(problem);
  }
  return keepReset(raw, typed(object as KubeObject, definition));
}

/** Problems that strict validation finds in the patch itself. */
function problemsOf({ type, patch: sent, text }: ParsedPatch): readonly string[] {
  const repeated = findDuplicateFields(text);
  return type === 'json' ? jsonPatchProblems(sent, repeated) : repeated.map(duplicateField);
}

/** A patch may not change or remove kind and apiVersion. */
function checkKind(call: Call, parsed: ParsedPatch, raw: JsonObject): void {
  const { context, resource, info } = call;
  if ((raw.kind ?? '') === '' || (raw.apiVersion ?? '') === '') throw missingName(info.name);
  const mismatch = kindMismatch(raw, resource.definition, context.resources.definitions);
  if (mismatch !== undefined) throw invalidPatch(parsed, raw, mismatch.why);
}

async function apply(call: Call, options: WriteOptions, text: string): Promise<ApiResponse> {
  const { context, resource, info } = call;
  const { definition } = resource;
  const write = writeRequest(call, options);
  const namespace = namespaceOf(call);
  const rules = rulesOf(call);
  const { resetFields } = rules;
  const facts = {
    applied: await parseApplied(call, options, text),
    schema: definition.schema,
    kind: definition,
    manager: write.manager,
    force: options.force,
    subresource: info.subresource,
    now: write.now,
    ...(resetFields === undefined ? {} : { resetFields }),
  };
  const { cached, created } = await updateObject(context, {
    resource,
    namespace,
    name: info.name,
    subresource: info.subresource,
    rules,
    async desired(live) {
      if (call.pace.isLarge()) await call.pace.pause();
      const request = { ...facts, ...(live === undefined ? {} : { live }) };
      const { object: merged } = await runSteps(applySteps(request), call.pace);
      if (call.pace.isLarge()) {
        await call.pace.pause();
        checkValues(merged, 'the object');
      }
      const source = { raw: merged };
      const { object, error } = await decodeValue(definition.schema, source, call.pace);
      if (error !== undefined) throw badRequest(error);
      const wanted = typed(object as KubeObject, definition);
      checkIdentity(call, wanted);
      return definition.defaults?.(wanted) ?? wanted;
    },
    ...(info.subresource === '' ? { create: createOnUpdate(call) } : {}),
    needsVersion: false,
    checksUid: false,
    write,
    // Ownership came with the applied object.
    recordManagers: (live, object) => (live === undefined ? object : keepTimes(live, object)),
  });
  return answerObject(call, created ? 201 : 200, cached);
}

async function parseApplied(
  call: Call,
  { fieldValidation }: WriteOptions,
  text: string,
): Promise<unknown> {
  const parsed = await parseYamlText(text);
  if ('error' in parsed)
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${parsed.error}`);
  const { value, duplicates } = parsed;
  if (duplicates.length > 0 && fieldValidation !== 'Ignore') {
    const why = `error converting YAML to JSON: ${repeatedKeys(duplicates)}`;
    if (fieldValidation === 'Strict') throw badRequest(`error strict decoding YAML: ${why}`);
    for (const duplicate of duplicates) call.warn(duplicate);
  }
  return value;
}
