// The token file while the server runs: read at start, and again when it has changed. The file is looked at when a
// token is used and not more often than once a second: a server that nobody asks does not poll.
import { readFileSync, statSync } from 'node:fs';
import type { Log } from '../../observe/log.ts';
import type { TokenAuthenticator } from '../access/authenticate.ts';
import { readTokenFile, type TokenList } from './token-file.ts';

export type TokenFileOptions = {
  readonly path: string;
  /** The server's own audiences: tokens of a file are for nobody else. */
  readonly audiences: readonly string[];
  /** Milliseconds. */
  readonly now: () => number;
  readonly log: Log;
};

const checkEveryMs = 1000;

/** The file cannot be used; the text says why, line by line. */
export class TokenFileError extends Error {
  constructor(path: string, why: string, options?: ErrorOptions) {
    super(`Cannot use the token file "${path}": ${why}`, options);
    this.name = 'TokenFileError';
  }
}

/** Throws when the file cannot be used at the start; later the list of before stays. */
export function followTokenFile({
  path,
  audiences,
  now,
  log,
}: TokenFileOptions): TokenAuthenticator {
  let seen = stateOf(path);
  let list = load(path);
  let checkedAt = now();

  function refresh(): void {
    const time = now();
    // A clock that was set back must not stop the checks.
    if (Math.abs(time - checkedAt) < checkEveryMs) return;
    checkedAt = time;
    const state = stateOf(path);
    if (state === seen) return;
    seen = state;
    try {
      list = load(path);
      log.info('token file read again', { path, tokens: list.size });
    } catch (error) {
      log.error('token file not taken, the tokens of before stay', {
        path,
        error: (error as Error).message,
      });
    }
  }

  return (token, asked) => {
    refresh();
    const user = list.userOf(token);
    if (user === undefined) return undefined;
    const shared = asked.length === 0 ? audiences : audiences.filter((one) => asked.includes(one));
    return shared.length === 0 ? undefined : { user, audiences: shared };
  };
}

/** Changes whenever the file does: written in place, replaced, or led elsewhere by a link. */
function stateOf(path: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return [ino, size, mtimeNs, ctimeNs].join(':');
  } catch (error) {
    return `unreadable: ${(error as NodeJS.ErrnoException).code ?? String(error)}`;
  }
}

/** More than this many lines that are wrong are the same mistake. */
const shownProblems = 5;

function load(path: string): TokenList {
  const read = readTokenFile(readText(path));
  if ('list' in read) return read.list;
  const { problems } = read;
  const more =
    problems.length > shownProblems ? `; and ${problems.length - shownProblems} more` : '';
  const shown = problems.slice(0, shownProblems).join('; ');
  throw new TokenFileError(path, `${shown}${more}`);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new TokenFileError(path, (error as Error).message, { cause: error });
  }
}
