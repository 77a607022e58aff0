// JSON as written: key order, duplicate keys and number literals. JSON.parse loses all three, and error messages need
// them. Slow, so only built when something is wrong.

export type JsonTree =
  | { readonly type: 'object'; readonly entries: readonly (readonly [string, JsonTree])[] }
  | { readonly type: 'array'; readonly items: readonly JsonTree[] }
  | { readonly type: 'number'; readonly literal: string }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'null' };

/** No schema is deeper; deeper values count as null, so that depth cannot overflow the stack. */
const deepest = 200;

/** The tree of valid JSON text. */
export function treeFromText(text: string): JsonTree {
  return readValue({ text, at: 0, depth: 0 });
}

/** The tree of a value without text, such as the result of a patch. */
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

type ObjectTree = Extract<JsonTree, { readonly type: 'object' }>;

/** The value of a tree. Values of duplicate keys are merged, as Go decodes one after the other into the same field. */
export function valueOfTree(tree: JsonTree): unknown {
  switch (tree.type) {
    case 'object':
      return Object.fromEntries(
        [...treesByKey(tree)].map(([key, trees]) => [key, valueOfTree(merged(trees))]),
      );
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

function treesByKey({ entries }: ObjectTree): ReadonlyMap<string, readonly JsonTree[]> {
  const trees = new Map<string, JsonTree[]>();
  for (const [key, tree] of entries) {
    const known = trees.get(key);
    if (known === undefined) trees.set(key, [tree]);
    else known.push(tree);
  }
  return trees;
}

/** All at once: merging one by one would take quadratic time for thousands of duplicates. */
function merged(trees: readonly JsonTree[]): JsonTree {
  const start = trees.findLastIndex(({ type }) => type !== 'object') + 1;
  const objects = trees.slice(start).filter((tree): tree is ObjectTree => tree.type === 'object');
  const last = trees.at(-1) ?? { type: 'null' };
  if (objects.length < 2) return last;
  return { type: 'object', entries: objects.flatMap(({ entries }) => entries) };
}

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

/** Skips a comma; at a closing bracket skips that and returns true. */
function endsWith(cursor: Cursor, bracket: string): boolean {
  skipSpace(cursor);
  const char = cursor.text[cursor.at];
  if (char === bracket || char === ',') cursor.at += 1;
  skipSpace(cursor);
  return char === bracket;
}

function readString(cursor: Cursor): string {
  const end = endOfString(cursor.text, cursor.at);
  const inner = cursor.text.slice(cursor.at + 1, end - 1);
  cursor.at = end;
  return inner.includes('\\') ? String(JSON.parse(`"${inner}"`)) : inner;
}

function readNumber(cursor: Cursor): JsonTree {
  const start = cursor.at;
  while (/[-+.0-9eE]/.test(cursor.text[cursor.at] ?? '')) cursor.at += 1;
  return { type: 'number', literal: cursor.text.slice(start, cursor.at) };
}

function skipSpace(cursor: Cursor): void {
  while (isSpace(cursor.text.charCodeAt(cursor.at))) cursor.at += 1;
}

/** Of JSON: space, tab, and the ends of lines. */
const isSpace = (code: number): boolean =>
  code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

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
