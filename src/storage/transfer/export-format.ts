// The file of an export: lines of JSON. The first is the header, each further one a key, the last counts them and has the
// checksum of all lines before it, so that a truncated or changed file is noticed.
import { createHash } from 'node:crypto';
import { StoreError } from '../store-error.ts';

const exportFormat = 'fairlead-export';
const exportVersion = 1;

export type ExportHeader = {
  /** The revision at which all keys were read. */
  readonly revision: number;
  /** RFC 3339. */
  readonly exportedAt: string;
  /** The prefix of the keys in their store: an encrypted value may be bound to its whole path. Absent: none. */
  readonly keyPrefix?: string;
};

export type ExportEntry = {
  readonly key: string;
  readonly value: Uint8Array;
  readonly revision: number;
  readonly createRevision: number;
  /** When the key expires, in milliseconds since 1970. */
  readonly expiresAt?: number;
};

export type ExportWriter = {
  readonly header: (header: ExportHeader) => string;
  readonly entry: (entry: ExportEntry) => string;
  readonly end: () => string;
};

/** Each function returns the next line of the file. */
export function createExportWriter(): ExportWriter {
  const hash = createHash('sha256');
  let entries = 0;
  const line = (content: object): string => {
    const text = `${JSON.stringify(content)}\n`;
    hash.update(text);
    return text;
  };
  return {
    header: (header) => line({ format: exportFormat, version: exportVersion, ...header }),
    entry({ key, value, revision, createRevision, expiresAt }) {
      entries += 1;
      return line({
        ...{ key, ...writeValue(value), revision, createRevision },
        ...(expiresAt === undefined ? {} : { expiresAt }),
      });
    },
    end: () => `${JSON.stringify({ entries, sha256: hash.digest('hex') })}\n`,
  };
}

/** Objects are text, which can be searched; other values are base64. */
function writeValue(value: Uint8Array): { readonly text: string } | { readonly base64: string } {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  const text = bytes.toString('utf8');
  return Buffer.from(text, 'utf8').equals(bytes) ? { text } : { base64: bytes.toString('base64') };
}

export type ExportReader = {
  /** Takes each line, without its end; returns the entry that it is, if it is one. Throws StoreError. */
  readonly line: (text: string) => ExportEntry | undefined;
  /** Throws unless the file was complete. */
  readonly end: () => ExportHeader & { readonly entries: number };
};

type Fields = Readonly<Record<string, unknown>>;

export function createExportReader(): ExportReader {
  const hash = createHash('sha256');
  let header: ExportHeader | undefined;
  let entries = 0;
  let isEnded = false;
  return {
    line(text) {
      if (isEnded) throw damaged('something follows its last line');
      const fields = parse(text, header === undefined);
      if (header === undefined) header = readHeader(fields);
      else if (typeof fields.sha256 === 'string') {
        if (fields.entries !== entries) throw damaged('lines are missing');
        if (fields.sha256 !== hash.digest('hex')) throw damaged('its checksum does not fit');
        isEnded = true;
        return undefined;
      } else {
        hash.update(`${text}\n`);
        entries += 1;
        return readEntry(fields, entries + 1);
      }
      hash.update(`${text}\n`);
      return undefined;
    },
    end() {
      if (header === undefined) throw foreign('it is empty');
      if (!isEnded) throw damaged('it ends too early');
      return { ...header, entries };
    },
  };
}

const damaged = (why: string): StoreError =>
  new StoreError('damaged', `Cannot import the file: ${why}. Nothing was changed.`);
const foreign = (why: string): StoreError =>
  new StoreError('foreign', `Cannot import the file: ${why}. Nothing was changed.`);

function parse(text: string, isFirst: boolean): Fields {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Fields;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw isFirst ? foreign('it is no export of this program') : damaged('a line cannot be read');
}

function readHeader({ format, version, revision, exportedAt, keyPrefix }: Fields): ExportHeader {
  if (format !== exportFormat) throw foreign('it is no export of this program');
  if (version !== exportVersion) {
    throw foreign(`it has format ${String(version)}; this program knows ${exportVersion}`);
  }
  if (!isCount(revision) || typeof exportedAt !== 'string')
    throw damaged('its first line is broken');
  return { revision, exportedAt, ...(typeof keyPrefix === 'string' ? { keyPrefix } : {}) };
}

function readEntry(fields: Fields, line: number): ExportEntry {
  const { key, text, base64, revision, createRevision, expiresAt } = fields;
  const value =
    typeof text === 'string'
      ? Buffer.from(text, 'utf8')
      : typeof base64 === 'string'
        ? Buffer.from(base64, 'base64')
        : undefined;
  const isWhole = typeof key === 'string' && isCount(revision) && isCount(createRevision);
  if (!isWhole || value === undefined || (expiresAt !== undefined && !isCount(expiresAt))) {
    throw damaged(`line ${line} is broken`);
  }
  return {
    key,
    value,
    revision,
    createRevision,
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;
