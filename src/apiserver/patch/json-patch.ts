// RFC 6902 as Kubernetes applies it (evanphx/json-patch v4): replacing a missing key sets it, copying one gives
// null, negative indices count from the end, the whole document can be replaced and tested but not added or removed.
// Whatever fails while applying gives one and the same answer.
import { badRequest, failure, tooLarge } from '../../meta/api-error.ts';
import { isValueTooDeep } from '../../schema/nesting.ts';
import { type Fields, field, isFields, jsonTypeName, sameValue } from './json-value.ts';

type Operation = Fields;
type Container = Fields | readonly unknown[];

/** Upstream's limits: a patch is no program, and copies must not blow an object up. */
const mostOperations = 10_000;
const mostCopiedBytes = 3 * 1024 * 1024;

const members = ['op', 'path', 'from', 'value'];

export function applyJsonPatch(document: unknown, patch: unknown): unknown {
  const operations = decodeOperations(patch);
  let copiedBytes = 0;
  let result = document;
  for (const operation of operations) {
    if (operation.op === 'copy') {
      const value = read(result, target(operation, 'from')) ?? null;
      copiedBytes += JSON.stringify(value).length;
      if (copiedBytes > mostCopiedBytes) throw rejected();
    }
    result = apply(result, operation);
  }
  // Each value may be shallow and their sum not.
  if (isValueTooDeep(result)) throw rejected();
  return result;
}

/** What a strict reading of the operations has to say: `json patch unknown field "[0].foo"`. */
export function jsonPatchProblems(
  patch: unknown,
  repeated: readonly string[] = [],
): readonly string[] {
  if (!Array.isArray(patch)) return [];
  const unknown = patch.flatMap((operation: unknown, index) =>
    Object.keys(isFields(operation) ? operation : {})
      .filter((key) => !members.includes(key))
      .map((key) => `unknown field ${JSON.stringify(`[${index}].${key}`)}`),
  );
  return [...unknown, ...repeated.map(duplicateField)].map((problem) => `json patch ${problem}`);
}

export const duplicateField = (path: string): string => `duplicate field ${JSON.stringify(path)}`;

function decodeOperations(patch: unknown): readonly Operation[] {
  if (patch === null) return [];
  if (!Array.isArray(patch)) throw undecodable(patch, 'value of type []handlers.jsonPatchOp');
  const operations = patch.map(decodeOperation);
  if (operations.length > mostOperations) {
    throw tooLarge(
      `Request entity too large: The allowed maximum operations in a JSON patch is ${mostOperations}, got ${operations.length}`,
    );
  }
  return operations;
}

function decodeOperation(operation: unknown): Operation {
  if (operation === null) return {};
  if (!isFields(operation)) throw undecodable(operation, 'value of type handlers.jsonPatchOp');
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

function apply(document: unknown, operation: Operation): unknown {
  const value = field(operation, 'value') ?? null;
  switch (field(operation, 'op')) {
    case 'add':
      return edit(document, target(operation, 'path'), (at, key) => added(at, key, value));
    case 'remove':
      return edit(document, target(operation, 'path'), removed);
    case 'replace':
      if (isWhole(operation)) return containerIn(value);
      return edit(document, target(operation, 'path'), (at, key) => replaced(at, key, value));
    case 'move': {
      const from = target(operation, 'from');
      const moved = read(document, from);
      const rest = edit(document, from, removed);
      return edit(rest, target(operation, 'path'), (at, key) => added(at, key, moved));
    }
    case 'copy': {
      const copy = read(document, target(operation, 'from')) ?? null;
      return edit(document, target(operation, 'path'), (at, key) => added(at, key, copy));
    }
    case 'test': {
      const found = isWhole(operation) ? document : read(document, target(operation, 'path'));
      if (sameValue(found ?? null, value)) return document;
      throw rejected();
    }
    default:
      throw rejected();
  }
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

type Edit = (container: Container, key: string) => Container;

/** A copy of the document in which the container of the last key is changed; the rest is shared. */
function edit(node: unknown, keys: readonly string[], change: Edit): unknown {
  const container = containerIn(node);
  const [key = '', ...rest] = keys;
  if (rest.length === 0) return change(container, key);
  return replaced(container, key, edit(child(container, key), rest, change));
}

function read(document: unknown, keys: readonly string[]): unknown {
  return keys.reduce((node, key) => child(containerIn(node), key), document);
}

function containerIn(node: unknown): Container {
  if (Array.isArray(node) || isFields(node)) return node as Container;
  throw rejected();
}

function isList(container: Container): container is readonly unknown[] {
  return Array.isArray(container);
}

function child(container: Container, key: string): unknown {
  return isList(container) ? container[indexIn(container, key)] : field(container, key);
}

function replaced(container: Container, key: string, value: unknown): Container {
  return isList(container)
    ? container.with(indexIn(container, key), value)
    : { ...container, [key]: value };
}

function removed(container: Container, key: string): Container {
  if (isList(container)) return container.toSpliced(indexIn(container, key), 1);
  if (!Object.hasOwn(container, key)) throw rejected();
  const { [key]: _removed, ...rest } = container;
  return rest;
}

function added(container: Container, key: string, value: unknown): Container {
  if (!isList(container)) return { ...container, [key]: value };
  const end = container.length;
  return container.toSpliced(key === '-' ? end : indexBelow(end + 1, key), 0, value);
}

function indexIn(list: readonly unknown[], key: string): number {
  return indexBelow(list.length, key);
}

function indexBelow(length: number, key: string): number {
  if (!/^[+-]?\d+$/.test(key)) throw rejected();
  const index = Number(key);
  if (index >= length || index < -length) throw rejected();
  return index < 0 ? index + length : index;
}
