// Warning headers (RFC 7234), as kubectl prints them, within limits that keep the head of a response small.

/** All warnings of a response together, in characters; beyond it each is cut to `maxShortenedLength`, and the rest is left out. */
const maxTotalLength = 4096;
const maxShortenedLength = 256;

// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what no header may hold
const controlCharacter = /[\u0000-\u001f\u007f]/;

export function warningHeaders(texts: readonly string[]): readonly string[] {
  // As upstream: a header is one line, and repeated warnings are dropped.
  const plain = [...new Set(texts)].filter((text) => text !== '' && !controlCharacter.test(text));
  return limited(plain).map((text) => `299 - "${text.replace(/[\\"]/g, '\\$&')}"`);
}

function limited(texts: readonly string[]): readonly string[] {
  const all = texts.map((text) => [...text]);
  if (total(all) <= maxTotalLength) return texts;
  const cut = all.map((text) => text.slice(0, maxShortenedLength));
  const shown: string[][] = [];
  for (const text of cut) {
    if (total(shown) + text.length <= maxTotalLength) shown.push(text);
  }
  return shown.map((text) => text.join(''));
}

const total = (texts: readonly (readonly string[])[]): number =>
  texts.reduce((sum, text) => sum + text.length, 0);
