// Warning headers (RFC 7234), as kubectl prints them, within limits that keep the head of an answer small.

/** All texts of one answer together, in characters; past it each is cut to `shownOfEach`, and the rest left out. */
const shownOfAll = 4096;
const shownOfEach = 256;

// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what no header may hold
const controlCharacter = /[\u0000-\u001f\u007f]/;

export function warningHeaders(texts: readonly string[]): readonly string[] {
  // Upstream drops them too: a header is one line, and nobody is told twice.
  const plain = [...new Set(texts)].filter((text) => text !== '' && !controlCharacter.test(text));
  return limited(plain).map((text) => `299 - "${text.replace(/[\\"]/g, '\\$&')}"`);
}

function limited(texts: readonly string[]): readonly string[] {
  const all = texts.map((text) => [...text]);
  if (total(all) <= shownOfAll) return texts;
  const cut = all.map((text) => text.slice(0, shownOfEach));
  const kept: string[][] = [];
  for (const text of cut) {
    if (total(kept) + text.length <= shownOfAll) kept.push(text);
  }
  return kept.map((text) => text.join(''));
}

const total = (texts: readonly (readonly string[])[]): number =>
  texts.reduce((sum, text) => sum + text.length, 0);
