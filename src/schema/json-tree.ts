// JSON as it was written: keys in order and repeated ones kept, numbers as their literals. JSON.parse loses all
// three, and error texts need them. Slow, so only built once something is known to be wrong.

export type JsonTree =
  | { readonly type: 'object'; readonly entries: readonly (readonly [string, JsonTree])[] }
  | { readonly type: 'array'; readonly items: readonly JsonTree[] }
  | { readonly type: 'number'; readonly literal: string }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'null' };

/** No schema reaches deeper; what lies below counts as null, so that depth cannot overflow the call stack. */
const deepest = 200;

/** The tree of a text that JSON.parse has accepted. */
export function treeFromText(text: string): JsonTree {
  return readValue({ text, at: 0, depth: 0 });
}

/** The tree of a value that was never text, such as the result of a patch. */
export function treeFromValue(value: unknown, depth = 0): JsonTree {
  if (depth > deepest) return { type: 'null' };
  if (value === null || value === undefined) return { type: 'null' };
  if (typeof value === 'string') return { type: 'string', value };
  if (typeof value === 'boolean') return { type: 'bool', value };
  if (typeof value === 'number') return { type: 'number', literal: String(value) };
  if (Array.isArray(value))
    return { type: 'array', items: value.map((item) => treeFromValue(item, depth + 1)) };
  const entries = Object.entries(value).filter(([, v]) => v !== undefined);
  return {
    type: 'object',
    entries: entries.map(([k, v]) => [k, treeFromValue(v, depth + 1)] as const),
  };
}

/** The value of a tree. Where a key is given twice, objects merge, as Go reads one after the other into the same place. */
export function valueOfTree(tree: JsonTree): unknown {
  switch (tree.type) {
    case 'object':
      return mergedFields(tree.entries.map(([key, item]) => [key, valueOfTree(item)]));
    case 'array':
      return tree.items.map(valueOfTree);
    case 'number':
      return Number(tree.literal);
    case 'null':
      return null;
    default:
      return tree.value;
  }
}

type Fields = Readonly<Record<string, unknown>>;

function mergedFields(entries: readonly (readonly [string, unknown])[]): Fields {
  const fields = new Map<string, unknown>();
  for (const [key, later] of entries) {
    const earlier = fields.get(key);
    const isMerged = isFields(earlier) && isFields(later);
    fields.set(
      key,
      isMerged ? mergedFields([...Object.entries(earlier), ...Object.entries(later)]) : later,
    );
  }
  return Object.fromEntries(fields);
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Cursor = { readonly text: string; at: number; depth: number };

function readValue(cursor: Cursor): JsonTree {
  skipSpace(cursor);
  const char = cursor.text[cursor.at];
  switch (char) {
    case '{':
    case '[':
      return readNested(cursor, char);
    case '"':
      return { type: 'string', value: readString(cursor) };
    case 't':
      cursor.at += 4;
      return { type: 'bool', value: true };
    case 'f':
      cursor.at += 5;
      return { type: 'bool', value: false };
    case 'n':
      cursor.at += 4;
      return { type: 'null' };
    default:
      return readNumber(cursor);
  }
}

function readNested(cursor: Cursor, bracket: '{' | '['): JsonTree {
  if (cursor.depth > deepest) return skipNested(cursor);
  cursor.depth += 1;
  const tree = bracket === '{' ? readObject(cursor) : readArray(cursor);
  cursor.depth -= 1;
  return tree;
}

function skipNested(cursor: Cursor): JsonTree {
  let open = 0;
  do {
    const char = cursor.text[cursor.at];
    if (char === '{' || char === '[') open += 1;
    if (char === '}' || char === ']') open -= 1;
    cursor.at = char === '"' ? endOfString(cursor.text, cursor.at) : cursor.at + 1;
  } while (open > 0);
  return { type: 'null' };
}

function readObject(cursor: Cursor): JsonTree {
  const entries: (readonly [string, JsonTree])[] = [];
  cursor.at += 1;
  while (!endsWith(cursor, '}')) {
    const key = readString(cursor);
    skipSpace(cursor);
    cursor.at += 1;
    entries.push([key, readValue(cursor)]);
  }
  return { type: 'object', entries };
}

function readArray(cursor: Cursor): JsonTree {
  const items: JsonTree[] = [];
  cursor.at += 1;
  while (!endsWith(cursor, ']')) items.push(readValue(cursor));
  return { type: 'array', items };
}

/** Steps over a comma, or over the closing bracket and says so. */
function endsWith(cursor: Cursor, bracket: string): boolean {
  skipSpace(cursor);
  const char = cursor.text[cursor.at];
  if (char === bracket || char === ',') cursor.at += 1;
  skipSpace(cursor);
  return char === bracket;
}

function readString(cursor: Cursor): string {
  const end = endOfString(cursor.text, cursor.at);
  const value: unknown = JSON.parse(cursor.text.slice(cursor.at, end));
  cursor.at = end;
  return String(value);
}

function readNumber(cursor: Cursor): JsonTree {
  const start = cursor.at;
  while (/[-+.0-9eE]/.test(cursor.text[cursor.at] ?? '')) cursor.at += 1;
  return { type: 'number', literal: cursor.text.slice(start, cursor.at) };
}

function skipSpace(cursor: Cursor): void {
  while (/\s/.test(cursor.text[cursor.at] ?? '')) cursor.at += 1;
}

/** One past the closing quote of the string that opens at `start`. */
export function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote + 1;
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(at - 1 - slashes) === 0x5c) slashes += 1;
  return slashes % 2 === 1;
}
