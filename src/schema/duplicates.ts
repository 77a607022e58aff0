// Duplicate keys in JSON objects. JSON.parse keeps the last one silently; Kubernetes reports them.
import { endOfString } from './json-tree.ts';

/** Open brackets from the outermost: the keys so far, or the index of the current item. */
type Frame = {
  readonly parent: Frame | undefined;
  readonly keys: string[] | undefined;
  /** Above this number of keys a set is faster than a linear search. */
  known: Set<string> | undefined;
  item: number;
  expectsKey: boolean;
};

const quote = 0x22;
const comma = 0x2c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const manyKeys = 16;

/** Paths of duplicate keys in order (`spec.type`, `spec.ports[0].port`), for valid JSON. */
export function findDuplicateFields(text: string): string[] {
  const found: string[] = [];
  let frame: Frame | undefined;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote: {
        const end = endOfString(text, at);
        if (frame?.expectsKey) noteKey(frame, text.slice(at + 1, end - 1), found);
        at = end - 1;
        break;
      }
      case comma:
        if (frame?.keys !== undefined) frame.expectsKey = true;
        else if (frame !== undefined) frame.item += 1;
        break;
      case openBrace:
        frame = { parent: frame, keys: [], known: undefined, item: 0, expectsKey: true };
        break;
      case openBracket:
        frame = { parent: frame, keys: undefined, known: undefined, item: 0, expectsKey: false };
        break;
      case closeBrace:
      case closeBracket:
        frame = frame?.parent;
        break;
    }
  }
  return found;
}

function noteKey(frame: Frame, raw: string, found: string[]): void {
  const key = raw.includes('\\') ? String(JSON.parse(`"${raw}"`)) : raw;
  const keys = frame.keys as string[];
  frame.expectsKey = false;
  const isKnown = frame.known === undefined ? keys.includes(key) : frame.known.has(key);
  keys.push(key);
  if (isKnown) {
    const path = pathOf(frame);
    if (!found.includes(path)) found.push(path);
  }
  if (frame.known !== undefined) frame.known.add(key);
  else if (keys.length > manyKeys) frame.known = new Set(keys);
}

function pathOf(frame: Frame): string {
  const above = frame.parent === undefined ? '' : pathOf(frame.parent);
  if (frame.keys === undefined) return `${above}[${frame.item}]`;
  const key = frame.keys.at(-1) ?? '';
  return above === '' ? key : `${above}.${key}`;
}
