// Messages of Go's YAML reader (go-yaml v2, which the API server uses) for invalid YAML. Its scanner counts lines from
// one and its parser from zero, and neither names line zero.

export type YamlProblem = {
  readonly code: string;
  readonly message: string;
  readonly pos: readonly [number, number];
};

export function goYamlError(problem: YamlProblem, text: string): string {
  const { code, message, pos } = problem;
  switch (code) {
    case 'BAD_INDENT':
      return /^Flow/.test(message)
        ? openFlow(problem, text)
        : parserError(/sequence/.test(message) ? noDash : noKey, pos[0], text);
    case 'MISSING_CHAR':
      return missing(problem, text);
    case 'BLOCK_AS_IMPLICIT_KEY':
      return strayColon(pos[0], text);
    case 'MULTILINE_IMPLICIT_KEY':
      return keyOverLines(pos[0], text);
    case 'TAB_AS_INDENT':
    case 'BAD_SCALAR_START':
      return scannerError('found character that cannot start any token', pos[0], text);
    case 'UNEXPECTED_TOKEN':
      return unexpected(problem, text);
    case 'BAD_DQ_ESCAPE':
      return scannerError('found unknown escape character', pos[0], text);
    default:
      return scannerError(message, pos[0], text);
  }
}

const noKey = 'did not find expected key';
const noDash = "did not find expected '-' indicator";
const noNode = 'did not find expected node content';

function scannerError(what: string, at: number, text: string): string {
  const lines = linesBefore(at, text);
  return lines === 0 ? `yaml: ${what}` : `yaml: line ${lines + 1}: ${what}`;
}

function parserError(what: string, at: number, text: string): string {
  // The end of the text counts as a line of its own.
  const isCutOff = at >= text.length && !text.endsWith('\n');
  const lines = linesBefore(at, text) + (isCutOff ? 1 : 0);
  return lines === 0 ? `yaml: ${what}` : `yaml: line ${lines}: ${what}`;
}

const linesBefore = (at: number, text: string): number => text.slice(0, at).split('\n').length - 1;

/** A flow list or map without end: the last token decides what was expected. */
function openFlow({ message, pos }: YamlProblem, text: string): string {
  const last = text.slice(0, pos[0]).trimEnd().at(-1) ?? '';
  if ('[{,:'.includes(last)) return parserError(noNode, pos[0], text);
  const bracket = message.includes('sequence') ? ']' : '}';
  return parserError(`did not find expected ',' or '${bracket}'`, pos[0], text);
}

function missing(problem: YamlProblem, text: string): string {
  const { message, pos } = problem;
  if (message.startsWith('Missing closing')) {
    return scannerError('found unexpected end of stream', text.length, text);
  }
  if (message.startsWith('Implicit')) return keyWithoutColon(pos[0], text);
  if (message.startsWith('Flow')) return openFlow(problem, text);
  const bracket = message.includes('sequence') ? ']' : '}';
  return parserError(`did not find expected ',' or '${bracket}'`, pos[0], text);
}

/** Reported where the next value begins. */
function keyWithoutColon(at: number, text: string): string {
  const lineEnd = text.indexOf('\n', at);
  const next = lineEnd < 0 ? -1 : text.slice(lineEnd).search(/\S/);
  const noticed = next < 0 ? text.length : lineEnd + next;
  return scannerError("could not find expected ':'", noticed, text);
}

/** Indented lines continue the previous value, which then is no key. */
function keyOverLines(at: number, text: string): string {
  if (/^-\s/.test(text.slice(at, at + 2))) return parserError(noKey, at, text);
  const isIndented = /^[^\n]*\n\s*? /.test(text.slice(at));
  return isIndented ? strayColon(at, text) : keyWithoutColon(at, text);
}

function strayColon(from: number, text: string): string {
  const colon = text.slice(from).search(/:(?=\s|$)/);
  const at = from + Math.max(colon, 0);
  return scannerError('mapping values are not allowed in this context', at, text);
}

function unexpected({ message, pos }: YamlProblem, text: string): string {
  const [at] = pos;
  if (message.startsWith('Unexpected block-seq-ind')) {
    return scannerError('block sequence entries are not allowed in this context', at, text);
  }
  const before = text.slice(0, at);
  if (/^Unexpected flow-/.test(message)) {
    return parserError(/:\s*$/.test(before) ? noNode : noKey, at, text);
  }
  // At the start of a line this should have been the next list item.
  return parserError(/(^|\n)$/.test(before) ? noDash : noKey, at, text);
}
