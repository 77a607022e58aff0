// Answers in the two dialects: lists of `member` with names as they are, or lists of `item` for EC2.

export type Xml =
  | string
  | number
  | boolean
  | undefined
  | readonly Xml[]
  | { readonly [name: string]: Xml };

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

export function encodeXml(value: Xml, listTag: 'member' | 'item'): string {
  if (value === undefined) return '';
  if (typeof value !== 'object') {
    return String(value).replaceAll(/[&<>]/g, (sign) => escapes[sign] ?? sign);
  }
  if (Array.isArray(value)) {
    return value.map((one) => `<${listTag}>${encodeXml(one, listTag)}</${listTag}>`).join('');
  }
  return Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .map(([name, one]) => `<${name}>${encodeXml(one, listTag)}</${name}>`)
    .join('');
}

export const tagsXml = (tags: Readonly<Record<string, string>>): Xml =>
  Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
