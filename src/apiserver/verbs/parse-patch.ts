// A patch as it was sent: its form, its text, and what it makes of an object. Server-side apply is elsewhere (verbs/patch.ts).
import { badRequest, failure, invalid } from '../../meta/api-error.ts';
import { cutText } from '../../meta/cut-text.ts';
import { invalid as invalidField } from '../../meta/field-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { StructNode } from '../../schema/node.ts';
import { maxValues, valueLimits } from '../../schema/value-count.ts';
import { header } from '../message.ts';
import { goText } from '../patch/go-text.ts';
import { applyJsonPatch } from '../patch/json-patch.ts';
import { applyMergePatch } from '../patch/merge-patch.ts';
import { applyStrategicMerge } from '../patch/strategic-merge.ts';
import { parseJson } from '../request/decode-body.ts';
import type { Call } from './call.ts';

const patchTypes = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
} as const;

export type PatchType = (typeof patchTypes)[keyof typeof patchTypes];

export function patchTypeOf({ request }: Call): PatchType {
  const media = (header(request, 'content-type') ?? '').split(';')[0]?.trim() ?? '';
  if (Object.hasOwn(patchTypes, media)) return patchTypes[media as keyof typeof patchTypes];
  throw failure({
    code: 415,
    reason: 'UnsupportedMediaType',
    message: '415: Unsupported Media Type',
  });
}

export type ParsedPatch = {
  readonly type: Exclude<PatchType, 'apply'>;
  readonly patch: unknown;
  readonly text: string;
};

/** Each form has its own message for a body that is not JSON. */
export function parsePatch(type: Exclude<PatchType, 'apply'>, text: string): ParsedPatch {
  const fail = (why: string): Error =>
    badRequest(type === 'strategic' ? why : `error decoding patch: ${why}`);
  // JSON patch operations have a limit of their own; the resulting object is counted.
  const limits = { ...valueLimits, members: maxValues };
  return { type, patch: parseJson(text, fail, type === 'json' ? limits : undefined), text };
}

export function applyPatch(
  { type, patch: wanted }: ParsedPatch,
  schema: StructNode,
  live: KubeObject,
): unknown {
  switch (type) {
    case 'json':
      return applyJsonPatch(live, wanted);
    case 'merge':
      return applyMergePatch(live, wanted);
    case 'strategic':
      return applyStrategicMerge(schema, live, wanted);
  }
}

/** A result that cannot be read is 422 on the field `patch` of an object without kind and name. */
export function invalidPatch(
  { type, patch: sent }: ParsedPatch,
  result: unknown,
  why: string,
): Error {
  const shown = cutText(type === 'strategic' ? goText(sent) : JSON.stringify(result));
  return invalid({ group: '', kind: '' }, '', [invalidField('patch', shown, why)]);
}
