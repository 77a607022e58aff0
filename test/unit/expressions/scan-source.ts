// Finds every regular expression literal of a TypeScript source, and every place that builds one at run time.

export type FoundExpression = {
  readonly line: number;
  readonly source: string;
  readonly flags: string;
};

export type ScannedSource = {
  readonly literals: readonly FoundExpression[];
  /** Lines that call the constructor. */
  readonly constructed: readonly number[];
};

/** After these words a slash begins an expression; after other words and closing brackets it divides. */
const wordsBefore = new Set([
  'return',
  'typeof',
  'case',
  'in',
  'of',
  'do',
  'else',
  'await',
  'void',
]);
const isWordCharacter = (character: string): boolean => /^[\w$]$/.test(character);

type Scan = {
  readonly text: string;
  at: number;
  /** The text of the token before, as far as it tells division from expression. */
  before: string;
  /** Open brackets; a `}` that closes `${` goes on with its template. */
  readonly open: string[];
  readonly literals: FoundExpression[];
  readonly constructed: number[];
};

export function scanSource(text: string): ScannedSource {
  const scan: Scan = { text, at: 0, before: '', open: [], literals: [], constructed: [] };
  while (scan.at < text.length) scanToken(scan);
  return { literals: scan.literals, constructed: scan.constructed };
}

function scanToken(scan: Scan): void {
  const { text, at, open } = scan;
  const character = text.charAt(at);
  if (text.startsWith('//', at)) scan.at = endOf(text, '\n', at);
  else if (text.startsWith('/*', at)) scan.at = endOf(text, '*/', at + 2) + 2;
  else if (character === "'" || character === '"') {
    scan.at = skipString(text, at);
    scan.before = 'string';
  } else if (character === '`' || (character === '}' && open.at(-1) === '${')) scanTemplate(scan);
  else if (character === '/' && isExpressionAfter(scan.before)) scanExpression(scan);
  else if (isWordCharacter(character)) scanWord(scan);
  else scanSign(scan, character);
}

function scanSign(scan: Scan, character: string): void {
  if ('{(['.includes(character)) scan.open.push(character);
  if ('})]'.includes(character)) scan.open.pop();
  if (character.trim() !== '') scan.before = character;
  scan.at += 1;
}

function scanTemplate(scan: Scan): void {
  if (scan.text.charAt(scan.at) === '}') scan.open.pop();
  const { end, isOpen } = skipTemplate(scan.text, scan.at + 1);
  if (isOpen) scan.open.push('${');
  scan.before = isOpen ? '{' : 'string';
  scan.at = end;
}

function scanExpression(scan: Scan): void {
  const { text, at } = scan;
  const end = skipExpression(text, at);
  const flags = /^[a-z]*/.exec(text.slice(end, end + 10))?.[0] ?? '';
  scan.literals.push({ line: lineOf(text, at), source: text.slice(at + 1, end - 1), flags });
  scan.at = end + flags.length;
  scan.before = 'expression';
}

function scanWord(scan: Scan): void {
  const { text, at } = scan;
  let end = at;
  while (end < text.length && isWordCharacter(text.charAt(end))) end += 1;
  scan.before = text.slice(at, end);
  scan.at = end;
  if (scan.before === 'RegExp' && text.charAt(end) === '(') {
    scan.constructed.push(lineOf(text, at));
  }
}

const lineOf = (text: string, at: number): number => text.slice(0, at).split('\n').length;

function isExpressionAfter(before: string): boolean {
  if (before === '') return true;
  if (isWordCharacter(before.charAt(0))) return wordsBefore.has(before);
  return before !== ')' && before !== ']' && before !== '}';
}

function endOf(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at < 0 ? text.length : at;
}

function skipString(text: string, start: number): number {
  const quote = text.charAt(start);
  let at = start + 1;
  while (at < text.length && text.charAt(at) !== quote) at += text.charAt(at) === '\\' ? 2 : 1;
  return at + 1;
}

function skipTemplate(
  text: string,
  start: number,
): { readonly end: number; readonly isOpen: boolean } {
  let at = start;
  while (at < text.length) {
    if (text.charAt(at) === '`') return { end: at + 1, isOpen: false };
    if (text.startsWith('${', at)) return { end: at + 2, isOpen: true };
    at += text.charAt(at) === '\\' ? 2 : 1;
  }
  return { end: at, isOpen: false };
}

/** Past the closing slash, which does not count inside of a class. */
function skipExpression(text: string, start: number): number {
  let isInClass = false;
  let at = start + 1;
  while (at < text.length) {
    const character = text.charAt(at);
    if (character === '\\') at += 1;
    else if (character === '[') isInClass = true;
    else if (character === ']') isInClass = false;
    else if (character === '/' && !isInClass) return at + 1;
    at += 1;
  }
  return at;
}
