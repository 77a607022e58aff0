// Field selectors: `metadata.name=a,status.phase!=Running`. Each kind defines the fields it supports.

export type FieldSelector = readonly FieldRequirement[];

export type FieldRequirement = {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
};

export function parseFieldSelector(
  text: string,
): { readonly selector: FieldSelector } | { readonly error: string } {
  const selector: FieldRequirement[] = [];
  // Sorted, because errors name the first term in this order.
  for (const term of splitTerms(text).sort()) {
    if (term === '') continue;
    const split = splitTerm(term);
    if (split === undefined) {
      return { error: `invalid selector: '${text}'; can't understand '${term}'` };
    }
    const value = unescapeValue(split.value);
    if ('error' in value) return value;
    selector.push({ ...split, value: value.text });
  }
  return { selector };
}

/** Splits at commas without a backslash before them. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === ',') {
      terms.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...terms, text.slice(start)];
}

/** Splits at the first operator; `==` means `=`. */
function splitTerm(term: string): FieldRequirement | undefined {
  for (let at = 0; at < term.length; at++) {
    if (term[at] === '!' && term[at + 1] === '=') {
      return { field: term.slice(0, at), operator: '!=', value: term.slice(at + 2) };
    }
    if (term[at] === '=') {
      const length = term[at + 1] === '=' ? 2 : 1;
      return { field: term.slice(0, at), operator: '=', value: term.slice(at + length) };
    }
  }
  return undefined;
}

/** Backslash, comma and equals sign must be escaped with a backslash; nothing else may be. */
function unescapeValue(value: string): { readonly text: string } | { readonly error: string } {
  let text = '';
  for (let at = 0; at < value.length; at++) {
    const char = value.charAt(at);
    if (char === ',' || char === '=') {
      const code = char.charCodeAt(0);
      return { error: `invalid field selector: unescaped character in value: ${code}` };
    }
    if (char !== '\\') text += char;
    else {
      at += 1;
      const escaped = value.charAt(at);
      if (!['\\', ',', '='].includes(escaped)) {
        return { error: `invalid field selector: invalid escape sequence: \\${escaped}` };
      }
      text += escaped;
    }
  }
  return { text };
}
