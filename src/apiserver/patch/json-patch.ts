// RFC 6902 as Kubernetes applies it (evanphx/json-patch v4): replacing a missing key sets it, copying one gives
// null, negative indices count from the end, the whole document can be replaced and tested but not added or removed.
// All failures of an operation have the same message.

import { badRequest, failure, tooLarge } from '../../meta/api-error.ts';
import { goQuote } from '../../schema/go-quote.ts';
import { isJsonObject, type JsonObject } from '../../schema/json-object.ts';
import { isValueTooDeep } from '../../schema/nesting.ts';
import { checkValues } from '../limits/check-values.ts';
import {
  addChild,
  childOf,
  containerIn,
  type Draft,
  equalsPlain,
  NoSuchPath,
  plainOf,
  removeChild,
  replaceChild,
  takeOver,
} from './draft.ts';
import { field, jsonTypeName } from './json-value.ts';

type Operation = JsonObject;

/** Upstream's limits on operations and on the size of copies. */
const maxOperations = 10_000;
const maxCopiedBytes = 3 * 1024 * 1024;

const members = ['op', 'path', 'from', 'value'];

/** Costs what the operations and the document say, not their product: nothing is copied twice. */
export function applyJsonPatch(document: unknown, patch: unknown): unknown {
  const operations = decodeOperations(patch);
  const holder: Draft = new Map([[top, document]]);
  let copiedBytes = 0;
  try {
    for (const operation of operations) {
      if (operation.op === 'copy') copiedBytes += applyCopy(holder, operation);
      else apply(holder, operation);
      if (copiedBytes > maxCopiedBytes) throw rejected();
    }
    const result = plainOf(holder.get(top));
    // Copies take few bytes of a patch and many of the object. Counted first, because checking an excess takes long.
    checkValues(result, 'the object');
    // Each value may be shallow and their sum not.
    if (isValueTooDeep(result)) throw rejected();
    return result;
  } catch (error) {
    throw error instanceof NoSuchPath ? rejected() : error;
  }
}

/** Problems that strict validation finds in the operations: `json patch unknown field "[0].foo"`. */
export function jsonPatchProblems(
  patch: unknown,
  repeated: readonly string[] = [],
): readonly string[] {
  if (!Array.isArray(patch)) return [];
  const unknown = patch.flatMap((operation: unknown, index) =>
    Object.keys(isJsonObject(operation) ? operation : {})
      .filter((key) => !members.includes(key))
      .map((key) => `unknown field ${goQuote(`[${index}].${key}`)}`),
  );
  return [...unknown, ...repeated.map(duplicateField)].map((problem) => `json patch ${problem}`);
}

export const duplicateField = (path: string): string => `duplicate field ${goQuote(path)}`;

function decodeOperations(patch: unknown): readonly Operation[] {
  if (patch === null) return [];
  if (!Array.isArray(patch)) throw undecodable(patch, 'value of type []handlers.jsonPatchOp');
  const operations = patch.map(decodeOperation);
  if (operations.length > maxOperations) {
    throw tooLarge(
      `Request entity too large: The allowed maximum operations in a JSON patch is ${maxOperations}, got ${operations.length}`,
    );
  }
  return operations;
}

function decodeOperation(operation: unknown): Operation {
  if (operation === null) return {};
  if (!isJsonObject(operation)) throw undecodable(operation, 'value of type handlers.jsonPatchOp');
  for (const key of ['op', 'path', 'from']) {
    const value = field(operation, key) ?? '';
    if (typeof value !== 'string') {
      throw undecodable(value, `struct field jsonPatchOp.${key} of type string`);
    }
  }
  return operation;
}

function undecodable(value: unknown, wanted: string): Error {
  return badRequest(
    `error decoding patch: json: cannot unmarshal ${jsonTypeName(value)} into Go ${wanted}`,
  );
}

function rejected(): Error {
  const message = 'the server rejected our request due to an error in our request';
  return failure({ code: 422, reason: 'Invalid', message, details: {} });
}

/** The whole document stands below the one key of a map, so that it can be replaced like anything else. */
const top = 'document';

function apply(holder: Draft, operation: Operation): void {
  const value = field(operation, 'value') ?? null;
  switch (field(operation, 'op')) {
    case 'add':
      edit(holder, target(operation, 'path'), (at, key) => addChild(at, key, value));
      return;
    case 'remove':
      edit(holder, target(operation, 'path'), removeChild);
      return;
    case 'replace':
      if (isWhole(operation)) replaceChild(holder, top, containerIn(value));
      else edit(holder, target(operation, 'path'), (at, key) => replaceChild(at, key, value));
      return;
    case 'move': {
      const from = target(operation, 'from');
      const moved = read(holder, from);
      edit(holder, from, removeChild);
      edit(holder, target(operation, 'path'), (at, key) => addChild(at, key, moved));
      return;
    }
    case 'test': {
      const keys = isWhole(operation) ? [] : target(operation, 'path');
      if (equalsPlain(read(holder, keys) ?? null, value)) return;
      throw rejected();
    }
    default:
      throw rejected();
  }
}

/** The copy is plain JSON and shared, whatever becomes of what was copied. Says how long it is. */
function applyCopy(holder: Draft, operation: Operation): number {
  const copy = plainOf(read(holder, target(operation, 'from')) ?? null);
  edit(holder, target(operation, 'path'), (at, key) => addChild(at, key, copy));
  return JSON.stringify(copy).length;
}

const isWhole = (operation: Operation): boolean => field(operation, 'path') === '';

/** The keys of a JSON pointer. What stands before the first slash is not looked at. */
function target(operation: Operation, name: 'path' | 'from'): readonly string[] {
  const pointer = field(operation, name);
  if (typeof pointer !== 'string' || !pointer.includes('/')) throw rejected();
  return pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Takes over the containers on the way to the last key, and changes the one that holds it. */
function edit(
  holder: Draft,
  keys: readonly string[],
  change: (container: Draft, key: string) => void,
): void {
  let at = holder;
  for (const key of [top, ...keys.slice(0, -1)]) {
    const container = containerIn(childOf(at, key));
    const draft = takeOver(container);
    if (draft !== container) replaceChild(at, key, draft);
    at = draft;
  }
  change(at, keys.at(-1) ?? '');
}

function read(holder: Draft, keys: readonly string[]): unknown {
  return keys.reduce((node, key) => childOf(containerIn(node), key), childOf(holder, top));
}
