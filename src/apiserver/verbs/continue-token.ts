// The continue token of a list: the start of the next page and its revision; opaque to clients.
import { badRequest } from '../../meta/api-error.ts';
import { goJsonParseError } from '../../schema/go-json-error.ts';

export type ContinueToken = {
  /** The revision of all pages; -1 is the current one. */
  readonly revision: number;
  /** The last key of the previous page, without the prefix of the list. */
  readonly after: string;
};

const tokenVersion = 'meta.k8s.io/v1';

export function encodeContinue({ revision, after }: ContinueToken): string {
  return Buffer.from(
    JSON.stringify({ v: tokenVersion, rv: revision, start: `${after}\0` }),
  ).toString('base64url');
}

export function decodeContinue(token: string): ContinueToken {
  const raw = parse(decodeBase64Url(token)) as {
    v?: unknown;
    rv?: unknown;
    start?: unknown;
  } | null;
  const version = typeof raw?.v === 'string' ? raw.v : '';
  if (version !== tokenVersion)
    throw notValid(`server does not recognize this encoded version ${version}`);
  if (typeof raw?.rv !== 'number' || raw.rv === 0) {
    throw notValid('incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  }
  if (typeof raw.start !== 'string' || raw.start === '') {
    throw notValid('encoded start key empty (version meta.k8s.io/v1)');
  }
  if (!isCleanPath(raw.start)) throw notValid(raw.start);
  return { revision: raw.rv, after: raw.start.replace(/\0$/, '') };
}

/** Upstream joins the key to the path of the list, and refuses what would leave it. */
const isCleanPath = (start: string): boolean =>
  start === '/' ||
  start
    .replace(/^\//, '')
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..');

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    // Go names the byte at which it stopped, not the character.
    if (error instanceof SyntaxError) throw notValid(goJsonParseError(bytes.toString('latin1')));
    throw error;
  }
}

function decodeBase64Url(token: string): Buffer {
  const wrong = token.search(/[^A-Za-z0-9_-]/);
  if (wrong >= 0) throw notValid(`illegal base64 data at input byte ${wrong}`);
  if (token.length % 4 === 1)
    throw notValid(`illegal base64 data at input byte ${token.length - 1}`);
  return Buffer.from(token, 'base64url');
}

const notValid = (why: string): Error =>
  badRequest(`invalid continue token: continue key is not valid: ${why}`);
