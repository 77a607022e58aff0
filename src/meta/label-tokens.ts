// Tokenizes label selectors.

export type Token = {
  readonly type:
    | 'identifier'
    | 'end'
    | 'in'
    | 'notin'
    | '('
    | ')'
    | ','
    | '!'
    | '='
    | '=='
    | '!='
    | '>'
    | '<';
  readonly text: string;
};

const signs = ['(', ')', ',', '!', '=', '==', '!=', '>', '<'] as const;
type Sign = (typeof signs)[number];

/** The last token is always `end`. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    if (isSpace(text[at])) at += 1;
    else {
      const token = isSignCharacter(text[at]) ? matchSign(text, at) : word(text, at);
      tokens.push(token);
      at += token.text.length;
    }
  }
  return [...tokens, { type: 'end', text: '' }];
}

function word(text: string, start: number): Token {
  let end = start;
  while (end < text.length && !isSpace(text[end]) && !isSignCharacter(text[end])) end++;
  const found = text.slice(start, end);
  return { type: found === 'in' || found === 'notin' ? found : 'identifier', text: found };
}

function matchSign(text: string, start: number): Token {
  const two = text.slice(start, start + 2);
  const found = isSign(two) ? two : (text[start] as Sign);
  return { type: found, text: found };
}

function isSign(text: string): text is Sign {
  return (signs as readonly string[]).includes(text);
}

function isSpace(char: string | undefined): boolean {
  return char === ' ' || char === '\t' || char === '\r' || char === '\n';
}

function isSignCharacter(char: string | undefined): boolean {
  return char !== undefined && '=!(),><'.includes(char);
}
