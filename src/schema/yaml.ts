// YAML as kubectl and the API server read it: version 1.1 without timestamps and binary, keys always text.
import {
  type CollectionTag,
  type Document,
  isScalar,
  Lexer,
  Parser,
  parseAllDocuments,
  parseDocument,
  type ScalarTag,
  type Tags,
  visit,
} from 'yaml';
import { canNestTooDeep, isTooManyOpen, tooDeep } from './nesting.ts';

export type ParsedYaml =
  | {
      readonly value: unknown /** Keys given twice, in Go's words; the last one counts. */;
      readonly duplicates: readonly string[];
    }
  | { readonly error: string };

const dropped = new Set(['tag:yaml.org,2002:timestamp', 'tag:yaml.org,2002:binary']);
const keepTag = (tag: string | ScalarTag | CollectionTag): boolean =>
  typeof tag === 'string' || !dropped.has(tag.tag);

const options = {
  version: '1.1',
  // The parser compares each key with all before it, which takes minutes where there are many.
  uniqueKeys: false,
  prettyErrors: false,
  customTags: (tags: Tags): Tags => tags.filter(keepTag),
} as const;

/** Anchors that multiply are refused; real manifests have a handful. */
const mostAliases = 100;

export function parseYaml(text: string): ParsedYaml {
  const excess = excessOf(text);
  return excess === undefined ? readDocument(parseDocument(text, options), text) : excess;
}

/** All documents of a stream; empty ones are left out. */
export function parseYamlStream(text: string): readonly ParsedYaml[] {
  const excess = excessOf(text);
  if (excess !== undefined) return [excess];
  return [parseAllDocuments(text, options)]
    .flat()
    .map((document) => readDocument(document as Document.Parsed, text))
    .filter((parsed) => 'error' in parsed || parsed.value !== null);
}

/**
 * Parts that the parser reads off the text, some four for each value. To read them is quick, but what is made of them
 * holds up everybody else; JSON may hold many times as much.
 */
const mostLexemes = 100_000;

/** The parser keeps what is open on a stack of its own; what is made of its tokens recurses. */
function excessOf(text: string): { readonly error: string } | undefined {
  if (!canNestTooDeep(text)) return undefined;
  const parser = new Parser();
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    // Runs the generator to its end; the documents are not wanted.
    for (const _document of parser.next(lexeme));
    if (isTooManyOpen(parser.stack.length)) return { error: `yaml: ${tooDeep}` };
    lexemes += 1;
    if (lexemes > mostLexemes) return { error: 'yaml: document contains too many values' };
  }
  return undefined;
}

type YamlProblem = {
  readonly code: string;
  readonly message: string;
  readonly pos: [number, number];
};

function readDocument(document: Document.Parsed, text: string): ParsedYaml {
  const problems: readonly YamlProblem[] = document.errors;
  const [fatal] = problems;
  if (fatal !== undefined) return { error: `yaml: line ${lineOf(fatal, text)}: ${goWords(fatal)}` };
  const duplicates = repeatedKeys(document).map((at) => {
    const key = /^["']?([^"':\s]+)/.exec(text.slice(at, at + longestShownKey))?.[1] ?? '';
    return `line ${lineOf({ pos: [at, at] }, text)}: key ${JSON.stringify(key)} already set in map`;
  });
  const read = resolved(document);
  return 'error' in read ? read : { value: plain(read.value), duplicates };
}

/** Anchors are looked up last, and the parser throws where there is none or too much. */
function resolved(document: Document.Parsed): { readonly value: unknown } | { error: string } {
  try {
    return { value: document.toJS({ maxAliasCount: mostAliases }) };
  } catch (error) {
    const why = error instanceof Error ? aliasError(error) : undefined;
    if (why === undefined) throw error;
    return { error: `yaml: ${why}` };
  }
}

/** In Go's words, by those of the parser. */
function aliasError({ message }: Error): string | undefined {
  const unknown = /^Unresolved alias.*?: (.*)$/s.exec(message)?.[1];
  if (unknown !== undefined) return `unknown anchor '${unknown}' referenced`;
  if (message.startsWith('Excessive alias')) return 'document contains excessive aliasing';
  return message.startsWith('Merge sources')
    ? 'map merge requires map or sequence of maps as the value'
    : undefined;
}

/** Of a key that was given twice, in messages. */
const longestShownKey = 1_024;
/** Told of one document; to find the line of each costs the text before it. */
const mostRepeated = 100;

/** Where keys stand that their map already has, in the order of the text. */
function repeatedKeys(document: Document.Parsed): readonly number[] {
  const found: number[] = [];
  visit(document, {
    Map(_key, map) {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key) || key.value === '<<') continue;
        if (seen.has(key.value) && key.range) found.push(key.range[0]);
        seen.add(key.value);
      }
    },
  });
  return found.sort((a, b) => a - b).slice(0, mostRepeated);
}

const lineOf = (problem: Pick<YamlProblem, 'pos'>, text: string): number =>
  text.slice(0, problem.pos[0]).split('\n').length;

/** The words of Go's parser for the common mistakes; ours for the rest. */
function goWords({ code, message }: YamlProblem): string {
  switch (code) {
    case 'BAD_INDENT':
      return message.startsWith('Flow')
        ? 'did not find expected node content'
        : 'did not find expected key';
    case 'MISSING_CHAR':
      return message.startsWith('Flow')
        ? "did not find expected ',' or '}'"
        : 'found unexpected end of stream';
    case 'BLOCK_AS_IMPLICIT_KEY':
      return 'mapping values are not allowed in this context';
    case 'TAB_AS_INDENT':
      return 'found character that cannot start any token';
    case 'BAD_ALIAS':
      return 'unknown anchor referenced';
    default:
      return message;
  }
}

/** Maps with keys that are not text (`on: x` is `true: x` in YAML 1.1) come back as Map. */
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
