// When a request of a connection may begin. A client that does not read its answers gets no more of them: otherwise a
// few bytes that ask for a large list, sent a thousand times, would take a thousand lists of memory.
import type { Connection } from './connection.ts';

/** What may be on its way to a client before its next request has to wait: more than a round trip takes. */
const readAheadBytes = 8 * 1024 * 1024;

const mayBegin = ({ requests, held }: Connection, atOnce: number): boolean =>
  requests < atOnce && held <= readAheadBytes;

/** Undefined: it has begun. Otherwise it begins when it is its turn; one that goes before must say so. */
export function takeTurn(
  connection: Connection,
  atOnce: number,
  onGone: (forget: () => void) => void,
): Promise<void> | undefined {
  if (connection.waiting.size() === 0 && mayBegin(connection, atOnce)) {
    begin(connection);
    return undefined;
  }
  return new Promise((resolve) => {
    const place = connection.waiting.add(resolve);
    onGone(() => connection.waiting.remove(place));
  });
}

/** Call when an answer is taken, or nobody will. */
export function endTurn(connection: Connection, atOnce: number): void {
  connection.requests -= 1;
  const { waiting } = connection;
  for (let next = waiting.first(); next !== undefined; next = waiting.first()) {
    if (!mayBegin(connection, atOnce)) return;
    waiting.remove(next);
    begin(connection);
    next.value();
  }
}

function begin(connection: Connection): void {
  connection.requests += 1;
  connection.begun += 1;
}
