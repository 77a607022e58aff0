// The structure of a regular expression, as far as the cost of a match depends on it.

/** Which of the sample characters an atom takes. */
export type CharacterSet = readonly boolean[];

export type Node =
  | { readonly node: 'characters'; readonly set: CharacterSet }
  /** Takes no character and may fail: an anchor, a word boundary, a lookaround. */
  | { readonly node: 'assertion'; readonly isStart: boolean; readonly inner?: Node }
  | { readonly node: 'sequence'; readonly parts: readonly Node[] }
  | { readonly node: 'choice'; readonly parts: readonly Node[] }
  | { readonly node: 'repeat'; readonly of: Node; readonly min: number; readonly max: number };

/** All of ASCII, and one of each sort beyond it that expressions of this program can tell apart. */
export const samples: readonly string[] = [
  ...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)),
  '\u00a0',
  'é',
  '中',
  '\u2028',
  '\ufeff',
  '\u0301',
  '€',
  '\ud800',
];

export function parseExpression(source: string, flags: string): Node {
  let at = 0;
  const node = choice();
  if (at !== source.length) throw new Error(`cannot parse /${source}/ at ${at}`);
  return node;

  function choice(): Node {
    const parts = [sequence()];
    while (source.charAt(at) === '|') {
      at += 1;
      parts.push(sequence());
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { node: 'choice', parts };
  }

  function sequence(): Node {
    const parts: Node[] = [];
    while (at < source.length && source.charAt(at) !== '|' && source.charAt(at) !== ')') {
      parts.push(quantified(atom()));
    }
    return { node: 'sequence', parts };
  }

  function quantified(of: Node): Node {
    const match = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(source.slice(at));
    if (match === null) return of;
    at += match[0].length;
    if (match[0].startsWith('*')) return { node: 'repeat', of, min: 0, max: Infinity };
    if (match[0].startsWith('+')) return { node: 'repeat', of, min: 1, max: Infinity };
    if (match[0].startsWith('?')) return { node: 'repeat', of, min: 0, max: 1 };
    const min = Number(match[1]);
    const max = match[2] === '' ? min : match[3] === '' ? Infinity : Number(match[3]);
    return { node: 'repeat', of, min, max };
  }

  function atom(): Node {
    const character = source.charAt(at);
    if (character === '(') return group();
    if (character === '^' || character === '$') {
      at += 1;
      return { node: 'assertion', isStart: character === '^' && !flags.includes('m') };
    }
    const length = atomLength();
    const text = source.slice(at, at + length);
    at += length;
    if (text === '\\b' || text === '\\B') return { node: 'assertion', isStart: false };
    if (/^\\[1-9]$/.test(text)) return anyText;
    return { node: 'characters', set: setOf(text, flags) };
  }

  function group(): Node {
    const opening = /^\((?:\?(?:[:=!]|<[=!]|<\w+>))?/.exec(source.slice(at))?.[0] ?? '(';
    at += opening.length;
    const inner = choice();
    if (source.charAt(at) !== ')') throw new Error(`no end of group in /${source}/`);
    at += 1;
    return /[=!]$/.test(opening) ? { node: 'assertion', isStart: false, inner } : inner;
  }

  function atomLength(): number {
    const rest = source.slice(at);
    if (rest.startsWith('[')) return classLength(rest);
    if (!rest.startsWith('\\')) return String.fromCodePoint(rest.codePointAt(0) ?? 0).length;
    return /^\\(?:[pP]\{[^}]*\}|x[0-9a-f]{2}|u\{[^}]*\}|u[0-9a-f]{4}|c[a-z]|.)/is.exec(rest)?.[0]
      .length as number;
  }
}

function classLength(text: string): number {
  let at = 1;
  while (at < text.length && text.charAt(at) !== ']') at += text.charAt(at) === '\\' ? 2 : 1;
  return at + 1;
}

/** A reference to a group repeats text of any form. */
const anyText: Node = {
  node: 'repeat',
  of: { node: 'characters', set: samples.map(() => true) },
  min: 0,
  max: Infinity,
};

/** The engine itself says which characters an atom takes. */
function setOf(atom: string, flags: string): CharacterSet {
  const expression = new RegExp(`^(?:${atom})$`, flags.replace(/[gy]/g, ''));
  return samples.map((sample) => expression.test(sample));
}
