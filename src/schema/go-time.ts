// Parses RFC 3339 as Go's time.Parse does, with its leniency and its error messages.

export type GoTime = { readonly ms: number; readonly microseconds: number };

type Layout = 'seconds' | 'micros';

const layouts = {
  seconds: '2006-01-02T15:04:05Z07:00',
  micros: '2006-01-02T15:04:05.000000Z07:00',
} as const;

/** `micros` requires exactly six decimals; `seconds` accepts any number of them. */
export function parseGoTime(layout: Layout, text: string): GoTime | { readonly error: string } {
  try {
    return parse(layout, text);
  } catch (problem) {
    if (problem instanceof Mismatch) return { error: problem.message };
    throw problem;
  }
}

class Mismatch extends Error {
  override readonly name = 'Mismatch';
}

type Cursor = { readonly text: string; readonly layout: Layout; at: number };

function parse(layout: Layout, text: string): GoTime {
  const cursor: Cursor = { text, layout, at: 0 };
  const year = takeNumber(cursor, { element: '2006', digits: 4 });
  takeLiteral(cursor, '-');
  const month = takeNumber(cursor, { element: '01', digits: 2, name: 'month', low: 1, high: 12 });
  takeLiteral(cursor, '-');
  const day = takeNumber(cursor, { element: '02', digits: 2 });
  takeLiteral(cursor, 'T');
  // Go accepts a one-digit hour.
  const hour = takeNumber(cursor, { element: '15', digits: 2, least: 1, name: 'hour', high: 23 });
  takeLiteral(cursor, ':');
  const minute = takeNumber(cursor, { element: '04', digits: 2, name: 'minute', high: 59 });
  takeLiteral(cursor, ':');
  const second = takeNumber(cursor, { element: '05', digits: 2, name: 'second', high: 59 });
  const microseconds = layout === 'micros' ? takeMicros(cursor) : takeFraction(cursor);
  const offsetMinutes = takeZone(cursor);
  if (cursor.at < text.length) {
    throw new Mismatch(`parsing time ${quote(text)}: extra text: ${quote(text.slice(cursor.at))}`);
  }
  if (day < 1 || day > daysInMonth(year, month)) throw outOfRange(cursor, 'day');
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second, Math.floor(microseconds / 1000));
  return { ms: date.getTime() - offsetMinutes * 60_000, microseconds };
}

type Element = {
  readonly element: string;
  readonly digits: number;
  readonly least?: number;
  readonly name?: string;
  readonly low?: number;
  readonly high?: number;
};

function takeNumber(cursor: Cursor, element: Element): number {
  let end = cursor.at;
  while (end < cursor.at + element.digits && isDigit(cursor.text, end)) end++;
  if (end - cursor.at < (element.least ?? element.digits))
    throw cannotParse(cursor, element.element);
  const value = Number(cursor.text.slice(cursor.at, end));
  cursor.at = end;
  const { name, low = 0, high = value } = element;
  if (name !== undefined && (value < low || value > high)) throw outOfRange(cursor, name);
  return value;
}

function takeLiteral(cursor: Cursor, literal: string): void {
  if (cursor.text[cursor.at] !== literal) throw cannotParse(cursor, literal);
  cursor.at += 1;
}

/** A fraction may follow the seconds although the layout has none. */
function takeFraction(cursor: Cursor): number {
  const { text, at } = cursor;
  if ((text[at] !== '.' && text[at] !== ',') || !isDigit(text, at + 1)) return 0;
  let end = at + 1;
  while (isDigit(text, end)) end++;
  cursor.at = end;
  return Number(
    text
      .slice(at + 1, at + 7)
      .padEnd(6, '0')
      .replace(/\D/g, '0'),
  );
}

function takeMicros(cursor: Cursor): number {
  const match = /^[.,]([0-9]{6})/.exec(cursor.text.slice(cursor.at));
  if (match === null) throw cannotParse(cursor, '.000000');
  cursor.at += 7;
  return Number(match[1]);
}

function takeZone(cursor: Cursor): number {
  const element = 'Z07:00';
  if (cursor.text[cursor.at] === 'Z') {
    cursor.at += 1;
    return 0;
  }
  const match = /^([+-])([0-9]{2}):([0-9]{2})/.exec(cursor.text.slice(cursor.at));
  if (match === null) throw cannotParse(cursor, element);
  const hours = Number(match[2]);
  const minutes = Number(match[3]);
  if (hours > 24) throw outOfRange(cursor, 'time zone offset hour');
  if (minutes > 60) throw outOfRange(cursor, 'time zone offset minute');
  cursor.at += 6;
  return (match[1] === '-' ? -1 : 1) * (hours * 60 + minutes);
}

function cannotParse({ text, layout, at }: Cursor, element: string): Mismatch {
  const rest = quote(text.slice(at));
  return new Mismatch(
    `parsing time ${quote(text)} as ${quote(layouts[layout])}: cannot parse ${rest} as ${quote(element)}`,
  );
}

function outOfRange({ text }: Cursor, what: string): Mismatch {
  return new Mismatch(`parsing time ${quote(text)}: ${what} out of range`);
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
}

function daysInMonth(year: number, month: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month, 0);
  return date.getUTCDate();
}

/** Limit of the quoted text, which may be as large as a body. */
const maxShown = 1_024;

/** Quotes as Go's time package: bytes other than printable ASCII become \xNN. */
function quote(text: string): string {
  let quoted = '"';
  for (const byte of new TextEncoder().encode(text.slice(0, maxShown))) {
    if (byte === 0x22 || byte === 0x5c) quoted += `\\${String.fromCharCode(byte)}`;
    else if (byte < 0x20 || byte >= 0x80) quoted += `\\x${byte.toString(16).padStart(2, '0')}`;
    else quoted += String.fromCharCode(byte);
  }
  return `${quoted}"`;
}
