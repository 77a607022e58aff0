// YAML as kubectl and the API server read it: version 1.1 without timestamps, binary and base-60 numbers, with octal
// numbers of version 1.2, and keys as text.

import {
  type CollectionTag,
  type Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  Parser,
  parseAllDocuments,
  parseDocument,
  type ScalarTag,
  type Tags,
  visit,
} from 'yaml';
import { goQuote } from './go-quote.ts';
import { canNestTooDeep, isTooManyOpen, tooDeep } from './nesting.ts';
import { goYamlError } from './yaml-error.ts';

export type ParsedYaml =
  | {
      readonly value: unknown /** Keys given twice, in Go's words; the last one counts. */;
      readonly duplicates: readonly string[];
    }
  | { readonly error: string };

const dropped = new Set(['tag:yaml.org,2002:timestamp', 'tag:yaml.org,2002:binary']);
/** `12:30` is text. */
const timeFormat = 'TIME';
const keepTag = (tag: string | ScalarTag | CollectionTag): boolean =>
  typeof tag === 'string' || !(dropped.has(tag.tag) || formatOf(tag) === timeFormat);
const formatOf = (tag: ScalarTag | CollectionTag): string | undefined =>
  'format' in tag ? tag.format : undefined;

const octal: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  test: /^[-+]?0o[0-7_]+$/,
  resolve: (text) => {
    const value = Number.parseInt(text.replace(/[-+o_]/g, ''), 8);
    return text.startsWith('-') ? -value : value;
  },
};

const options = {
  version: '1.1',
  // The parser compares each key with all previous ones, which takes minutes for many keys.
  uniqueKeys: false,
  prettyErrors: false,
  customTags: (tags: Tags): Tags => [octal, ...tags.filter(keepTag)],
} as const;

/** Limits the expansion of aliases; real manifests use a handful. */
const maxAliases = 100;

export function parseYaml(text: string): ParsedYaml {
  const excess = excessOf(text);
  return excess === undefined ? readDocument(parseDocument(text, options), text) : excess;
}

export type StreamedYaml = ParsedYaml & {
  /** Where the value begins in the stream, from 1. */
  readonly line: number;
  /** Of a list of objects: where its `items` begin. */
  readonly itemLines: readonly number[];
};

export type StreamOptions = {
  /** Of parser tokens in the whole stream: for programs that serve no other clients. */
  readonly maxLexemes?: number;
};

/** All documents of a stream, without empty ones. */
export function parseYamlStream(
  text: string,
  { maxLexemes: limit = maxLexemes }: StreamOptions = {},
): readonly StreamedYaml[] {
  const excess = excessOf(text, limit);
  if (excess !== undefined) return [{ ...excess, line: 1, itemLines: [] }];
  const lineAt = createLineCounter(text);
  return [parseAllDocuments(text, options)].flat().flatMap((one) => {
    const document = one as Document.Parsed;
    const line = lineAt(document.contents?.range?.[0] ?? 0);
    const itemLines = itemsOf(document).map((item) => lineAt(item.range?.[0] ?? 0));
    const parsed = readDocument(document, text);
    return 'error' in parsed || parsed.value !== null ? [{ ...parsed, line, itemLines }] : [];
  });
}

/** Positions come in their order, so that each character is read once; earlier ones get the line of the last. */
function createLineCounter(text: string): (position: number) => number {
  let [line, at] = [1, 0];
  return (position) => {
    for (; at < position; at += 1) if (text.charCodeAt(at) === newline) line += 1;
    return line;
  };
}

const newline = 0x0a;

function itemsOf({ contents }: Document.Parsed) {
  const items: unknown = isMap(contents) ? contents.get('items', true) : undefined;
  return isSeq(items) ? items.items.filter(isNode) : [];
}

/**
 * Limit of parser tokens, about four for each value. Tokenizing is fast, but composing them blocks other requests;
 * JSON may have many times as many values.
 */
const maxLexemes = 100_000;

/** The tokenizer has a stack of its own; the composer recurses. */
function excessOf(text: string, limit = maxLexemes): { readonly error: string } | undefined {
  if (!canNestTooDeep(text)) return undefined;
  const parser = new Parser();
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    // Runs the generator to its end for its errors.
    for (const _document of parser.next(lexeme));
    if (isTooManyOpen(parser.stack.length)) return { error: `yaml: ${tooDeep}` };
    lexemes += 1;
    if (lexemes > limit) return { error: 'yaml: document contains too many values' };
  }
  return undefined;
}

function readDocument(document: Document.Parsed, text: string): ParsedYaml {
  // Go's reader stops after the first document.
  const fatal = document.errors.find(({ code }) => code !== 'MULTIPLE_DOCS');
  if (fatal !== undefined) return { error: goYamlError(fatal, text) };
  const duplicates = repeatedKeys(document).map(
    ({ key, at }) => `line ${lineOf(at, text)}: key ${key} already set in map`,
  );
  const read = resolved(document);
  return 'error' in read ? read : { value: plain(read.value), duplicates };
}

/** Aliases are resolved last; the parser throws for unknown ones and for too many. */
function resolved(document: Document.Parsed): { readonly value: unknown } | { error: string } {
  try {
    return { value: document.toJS({ maxAliasCount: maxAliases }) };
  } catch (error) {
    const why = error instanceof Error ? aliasError(error) : undefined;
    if (why === undefined) throw error;
    return { error: `yaml: ${why}` };
  }
}

/** Go's message for the parser's error code. */
function aliasError({ message }: Error): string | undefined {
  const mark = ': ';
  if (message.startsWith('Unresolved alias') && message.includes(mark)) {
    const unknown = message.slice(message.indexOf(mark) + mark.length);
    return `unknown anchor '${unknown}' referenced`;
  }
  if (message.startsWith('Excessive alias')) return 'document contains excessive aliasing';
  return message.startsWith('Merge sources')
    ? 'map merge requires map or sequence of maps as the value'
    : undefined;
}

/** A duplicate key in messages. */
const maxShownKeyLength = 1_024;
/** Limit for one document: computing the line of each takes time in proportion to the text before it. */
const maxRepeated = 100;

type RepeatedKey = {
  /** As Go's %#v prints it. */
  readonly key: string;
  /** Where its value begins: Go reports that line. */
  readonly at: number;
};

/** Duplicate keys in document order. */
function repeatedKeys(document: Document.Parsed): readonly RepeatedKey[] {
  const found: RepeatedKey[] = [];
  visit(document, {
    Map(_key, map) {
      const seen = new Set<unknown>();
      for (const { key, value } of map.items) {
        if (!isScalar(key) || key.value === '<<') continue;
        const at = (isNode(value) ? value.range : key.range)?.[0];
        if (seen.has(key.value) && at !== undefined) found.push({ key: shownKey(key.value), at });
        seen.add(key.value);
      }
    },
  });
  return found.sort((a, b) => a.at - b.at).slice(0, maxRepeated);
}

function shownKey(key: unknown): string {
  return typeof key === 'string' ? goQuote(key.slice(0, maxShownKeyLength)) : String(key);
}

const lineOf = (at: number, text: string): number => text.slice(0, at).split('\n').length;

/** Maps with keys other than text (`on: x` is `true: x` in YAML 1.1) come back as Map. */
function plain(value: unknown): unknown {
  if (value instanceof Map) {
    return Object.fromEntries([...value].map(([key, item]) => [String(key), plain(item)]));
  }
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
  }
  return value ?? null;
}
