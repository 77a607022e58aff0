// Domain names in uncompressed wire format: length-prefixed labels, then a zero. Stored as byte strings (one character per byte) in lower
// case, so that equal names are equal strings and can be map keys.

export type WireName = string;

export const rootName: WireName = '\0';

const maxLabelLength = 63;
/** RFC 1035: the whole name, with length bytes and the final zero. */
export const maxNameLength = 255;

/** Parses a dotted name; the trailing dot is optional. Undefined for invalid names. */
export function wireName(text: string): WireName | undefined {
  const bare = text.endsWith('.') ? text.slice(0, -1) : text;
  if (bare === '') return rootName;
  let name = '';
  for (const label of bare.split('.')) {
    if (label === '' || label.length > maxLabelLength || !isLatin(label)) return undefined;
    name += String.fromCharCode(label.length) + foldCase(label);
  }
  return name.length < maxNameLength ? `${name}\0` : undefined;
}

/** Formats a name with a trailing dot; special bytes are escaped as in zone files. */
export function nameText(name: WireName): string {
  if (name === rootName) return '.';
  const write = (label: string): string =>
    label.replace(/[^!-~]|[.\\]/g, (char) =>
      char === '.' || char === '\\'
        ? `\\${char}`
        : `\\${String(char.charCodeAt(0)).padStart(3, '0')}`,
    );
  return labelsOf(name)
    .map((label) => `${write(label)}.`)
    .join('');
}

export function labelsOf(name: WireName): string[] {
  const labels: string[] = [];
  let at = 0;
  for (let length = name.charCodeAt(0); length > 0; length = name.charCodeAt(at)) {
    labels.push(name.slice(at + 1, at + 1 + length));
    at += 1 + length;
  }
  return labels;
}

/** Prepends labels to a name; undefined when it would be too long. */
export function joinName(labels: readonly string[], parent: WireName): WireName | undefined {
  let name = '';
  for (const label of labels) {
    if (label === '' || label.length > maxLabelLength) return undefined;
    name += String.fromCharCode(label.length) + foldCase(label);
  }
  return name.length + parent.length <= maxNameLength ? name + parent : undefined;
}

/** The offset of the ancestor within the name; undefined when it is not an ancestor. A name is its own ancestor. */
export function ancestorOffset(name: WireName, ancestor: WireName): number | undefined {
  const offset = name.length - ancestor.length;
  if (offset < 0 || !name.endsWith(ancestor)) return undefined;
  // The same bytes may also occur inside a label.
  let at = 0;
  while (at < offset) at += 1 + name.charCodeAt(at);
  return at === offset ? offset : undefined;
}

export function isWithin(name: WireName, ancestor: WireName): boolean {
  return ancestorOffset(name, ancestor) !== undefined;
}

/** DNS folds the case of ASCII letters only. */
export function foldCase(text: string): string {
  return /[A-Z]/.test(text) ? text.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : text;
}

function isLatin(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 255) return false;
  return true;
}
