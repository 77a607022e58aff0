// Text of others for people: what a terminal would obey instead of showing is written out. Names of users, field managers, and messages
// of programs may have any character.

/** Control characters, among them escape; marks that change the direction of the text around them; separators of lines and paragraphs. */
const unprintable = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** On one line: `\n` and `\x1b` are written as they would be in a program. */
export function printable(text: string): string {
  return text.replaceAll(unprintable, written);
}

/** As it is, but for what is no text: of messages that have several lines. */
export function printableLines(text: string): string {
  return text.replaceAll(unprintable, (character) =>
    character === '\n' || character === '\t' ? character : written(character),
  );
}

/** Whether a terminal shows the lines as they are. */
export const isPrintable = (text: string): boolean =>
  text.replaceAll(/[\n\t]/g, '').search(unprintable) < 0;

/** In the notation that strings of JSON and of YAML in double quotes share; for text that has such characters nowhere else. */
export function escapedForJson(text: string): string {
  return text.replaceAll(unprintable, (character) =>
    character === '\n' || character === '\t'
      ? character
      : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const names: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function written(character: string): string {
  const code = character.charCodeAt(0);
  const hex = code.toString(16);
  return names[character] ?? (code < 256 ? `\\x${hex.padStart(2, '0')}` : `\\u${hex}`);
}
