// The message of Go's encoding/json for invalid JSON. Called only for such text.

class SyntaxProblem extends Error {
  override readonly name = 'SyntaxProblem';
}

type Bracket = '}' | ']';
/** `open` holds the open brackets: a list instead of recursion, so that depth cannot overflow the stack. */
type Cursor = { readonly bytes: Uint8Array; readonly open: Bracket[]; at: number };

/** Go's limit of nesting. */
const deepestNesting = 10000;

/** Go's message for the first syntax error; empty for valid JSON. */
export function goJsonParseError(text: string): string {
  const cursor: Cursor = { bytes: new TextEncoder().encode(text), open: [], at: 0 };
  try {
    do startValue(cursor);
    while (!closesAll(cursor));
    if (cursor.at < cursor.bytes.length) throw invalidCharacter(cursor, 'after top-level value');
    return '';
  } catch (problem) {
    if (problem instanceof SyntaxProblem) return problem.message;
    throw problem;
  }
}

/** Reads to the end of the first value that is not a non-empty object or array. */
function startValue(cursor: Cursor): void {
  for (;;) {
    skipSpace(cursor);
    const char = peek(cursor);
    if (char !== '{' && char !== '[') break;
    if (enter(cursor, char === '{' ? '}' : ']')) return;
  }
  scalar(cursor);
}

/** Enters an object or array; true when it is empty, and still open. */
function enter(cursor: Cursor, bracket: Bracket): boolean {
  cursor.at += 1;
  cursor.open.push(bracket);
  if (cursor.open.length > deepestNesting) throw new SyntaxProblem('exceeded max depth');
  skipSpace(cursor);
  if (peek(cursor) === bracket) return true;
  if (bracket === '}') key(cursor);
  return false;
}

/** After a value: closes brackets; false when another value must follow. */
function closesAll(cursor: Cursor): boolean {
  for (;;) {
    skipSpace(cursor);
    const bracket = cursor.open.at(-1);
    if (bracket === undefined) return true;
    if (take(cursor, bracket)) cursor.open.pop();
    else if (take(cursor, ',')) {
      skipSpace(cursor);
      if (bracket === '}') key(cursor);
      return false;
    } else {
      const where = bracket === '}' ? 'after object key:value pair' : 'after array element';
      throw invalidCharacter(cursor, where);
    }
  }
}

function key(cursor: Cursor): void {
  if (peek(cursor) !== '"') {
    throw invalidCharacter(cursor, 'looking for beginning of object key string');
  }
  string(cursor);
  skipSpace(cursor);
  if (!take(cursor, ':')) throw invalidCharacter(cursor, 'after object key');
}

function scalar(cursor: Cursor): void {
  const char = peek(cursor);
  if (char === '"') string(cursor);
  else if (char === '-' || isDigit(char)) number(cursor);
  else if (char === 't') literal(cursor, 'true');
  else if (char === 'f') literal(cursor, 'false');
  else if (char === 'n') literal(cursor, 'null');
  else throw invalidCharacter(cursor, 'looking for beginning of value');
}

function string(cursor: Cursor): void {
  cursor.at += 1;
  for (;;) {
    const char = peek(cursor);
    if (char < ' ') throw invalidCharacter(cursor, 'in string literal');
    cursor.at += 1;
    if (char === '"') return;
    if (char === '\\') escapeCode(cursor);
  }
}

function escapeCode(cursor: Cursor): void {
  const char = peek(cursor);
  if (!'bfnrt\\/"u'.includes(char)) throw invalidCharacter(cursor, 'in string escape code');
  cursor.at += 1;
  if (char !== 'u') return;
  for (let i = 0; i < 4; i++) {
    if (!/[0-9a-fA-F]/.test(peek(cursor))) {
      throw invalidCharacter(cursor, 'in \\u hexadecimal character escape');
    }
    cursor.at += 1;
  }
}

function number(cursor: Cursor): void {
  if (peek(cursor) === '-') cursor.at += 1;
  if (!isDigit(peek(cursor))) throw invalidCharacter(cursor, 'in numeric literal');
  if (peek(cursor) === '0') cursor.at += 1;
  else digits(cursor);
  if (current(cursor) === '.') {
    cursor.at += 1;
    if (!isDigit(peek(cursor))) {
      throw invalidCharacter(cursor, 'after decimal point in numeric literal');
    }
    digits(cursor);
  }
  if (current(cursor) !== 'e' && current(cursor) !== 'E') return;
  cursor.at += 1;
  if (peek(cursor) === '+' || peek(cursor) === '-') cursor.at += 1;
  if (!isDigit(peek(cursor))) throw invalidCharacter(cursor, 'in exponent of numeric literal');
  digits(cursor);
}

function digits(cursor: Cursor): void {
  while (isDigit(current(cursor) ?? '')) cursor.at += 1;
}

function literal(cursor: Cursor, word: string): void {
  for (const expected of word) {
    if (peek(cursor) !== expected) {
      throw invalidCharacter(cursor, `in literal ${word} (expecting '${expected}')`);
    }
    cursor.at += 1;
  }
}

function skipSpace(cursor: Cursor): void {
  while (' \t\r\n'.includes(current(cursor) ?? '?')) cursor.at += 1;
}

/** The byte at the cursor as a character; undefined at the end. */
function current({ bytes, at }: Cursor): string | undefined {
  const byte = bytes[at];
  return byte === undefined ? undefined : String.fromCharCode(byte);
}

/** Positions where the text must not end. */
function peek(cursor: Cursor): string {
  const char = current(cursor);
  if (char === undefined) throw new SyntaxProblem('unexpected end of JSON input');
  return char;
}

function take(cursor: Cursor, char: string): boolean {
  if (peek(cursor) !== char) return false;
  cursor.at += 1;
  return true;
}

function isDigit(char: string): boolean {
  return char >= '0' && char <= '9';
}

function invalidCharacter(cursor: Cursor, where: string): SyntaxProblem {
  return new SyntaxProblem(`invalid character ${quoteByte(peek(cursor))} ${where}`);
}

/** Go shows a single byte in single quotes, escaped as in Go source. */
function quoteByte(char: string): string {
  if (char === "'") return "'\\''";
  const named = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\b': '\\b', '\f': '\\f', '\\': '\\\\' }[
    char
  ];
  if (named !== undefined) return `'${named}'`;
  const code = char.charCodeAt(0);
  if (char === '\u0007') return "'\\a'";
  if (char === '\u000b') return "'\\v'";
  if (code < 0x20 || code === 0x7f) return `'\\x${code.toString(16).padStart(2, '0')}'`;
  if ((code >= 0x80 && code < 0xa1) || code === 0xad) return `'\\u00${code.toString(16)}'`;
  return `'${char}'`;
}
