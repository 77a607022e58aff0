// Reads the token file at start, and again when it has changed. The file is checked when a token is used, at most once a
// second: an idle server does not poll.
import { readFileSync, statSync } from 'node:fs';
import type { Log } from '../../observe/log.ts';
import type { TokenAuthenticator } from '../access/authenticate.ts';
import { readTokenFile, type TokenList } from './token-file.ts';

export type TokenFileOptions = {
  readonly path: string;
  /** The server's own audiences: tokens of a file have no others. */
  readonly audiences: readonly string[];
  /** Milliseconds. */
  readonly now: () => number;
  readonly log: Log;
};

const checkIntervalMs = 1000;

/** The file is invalid; the message lists the lines. */
export class TokenFileError extends Error {
  constructor(path: string, why: string, options?: ErrorOptions) {
    super(`Cannot use the token file "${path}": ${why}`, options);
    this.name = 'TokenFileError';
  }
}

/** Throws when the file is invalid at the start; later the previous tokens stay valid. */
export function followTokenFile({
  path,
  audiences,
  now,
  log,
}: TokenFileOptions): TokenAuthenticator {
  let lastState = stateOf(path);
  let list = load(path);
  let checkedAt = now();

  function refresh(): void {
    const time = now();
    // A clock that was set back must not stop the checks.
    if (Math.abs(time - checkedAt) < checkIntervalMs) return;
    checkedAt = time;
    const state = stateOf(path);
    if (state === lastState) return;
    lastState = state;
    try {
      list = load(path);
      log.info('Reloaded token file', { path, tokens: list.size });
    } catch (error) {
      log.error('Failed to reload token file, keeping the previous tokens', {
        path,
        error: (error as Error).message,
      });
    }
  }

  return (token, requested) => {
    refresh();
    const user = list.userOf(token);
    if (user === undefined) return undefined;
    const shared =
      requested.length === 0 ? audiences : audiences.filter((one) => requested.includes(one));
    return shared.length === 0 ? undefined : { user, audiences: shared };
  };
}

/** Changes whenever the file does: written in place, replaced, or a changed symbolic link. */
function stateOf(path: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return [ino, size, mtimeNs, ctimeNs].join(':');
  } catch (error) {
    return `unreadable: ${(error as NodeJS.ErrnoException).code ?? String(error)}`;
  }
}

/** Further invalid lines are most likely the same mistake. */
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
