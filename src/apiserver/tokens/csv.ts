// Comma-separated values as Go reads them: quotes around what holds commas, two quotes for one, blank lines skipped.

export type CsvRecord = { readonly line: number; readonly fields: readonly string[] };

/** The records, or the error of the first invalid line. */
export function parseCsv(
  text: string,
): { readonly records: readonly CsvRecord[] } | { readonly error: string } {
  const records: CsvRecord[] = [];
  let fields: string[] = [];
  let line = 1;
  let startLine = 1;
  let at = 0;
  while (at < text.length) {
    const field = text[at] === '"' ? quotedField(text, at) : plainField(text, at);
    if ('error' in field) return { error: `line ${line}: ${field.error}` };
    fields.push(field.value);
    line += lineBreaks(text, at, field.end);
    at = field.end;
    if (text[at] === ',') {
      at += 1;
      // A comma at the very end leaves one more, empty field.
      if (at === text.length) fields.push('');
      else continue;
    }
    if (fields.length > 1 || fields[0] !== '') records.push({ line: startLine, fields });
    fields = [];
    if (text[at] === '\r') at += 1;
    at += 1;
    line += 1;
    startLine = line;
  }
  return { records };
}

type Field = { readonly value: string; readonly end: number } | { readonly error: string };

function plainField(text: string, start: number): Field {
  let end = start;
  while (end < text.length && text[end] !== ',' && !isLineEnd(text, end)) {
    if (text[end] === '"') return { error: 'a quote in a field that does not begin with one' };
    end += 1;
  }
  return { value: text.slice(start, end), end };
}

function quotedField(text: string, start: number): Field {
  let value = '';
  let from = start + 1;
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return { error: 'a quote is opened and not closed' };
    value += text.slice(from, quote);
    if (text[quote + 1] !== '"') {
      const end = quote + 1;
      return end === text.length || text[end] === ',' || isLineEnd(text, end)
        ? { value, end }
        : { error: 'text follows a closing quote' };
    }
    value += '"';
    from = quote + 2;
  }
}

function isLineEnd(text: string, at: number): boolean {
  return text[at] === '\n' || (text[at] === '\r' && (text[at + 1] ?? '\n') === '\n');
}

function lineBreaks(text: string, start: number, end: number): number {
  return text.slice(start, end).split('\n').length - 1;
}
