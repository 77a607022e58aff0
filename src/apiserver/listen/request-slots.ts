// When a request of a connection may start. A client that does not read its responses gets no further ones: otherwise a
// few bytes that request a large list, sent a thousand times, would take the memory of a thousand lists.
import type { Connection } from './connection.ts';

/** Unread bytes from which on the next request of the client waits: more than the bandwidth-delay product. */
const readAheadBytes = 8 * 1024 * 1024;

const canStart = ({ requests, unreadBytes }: Connection, maxConcurrent: number): boolean =>
  requests < maxConcurrent && unreadBytes <= readAheadBytes;

/** Undefined when the request may start now. A request that is cancelled while it waits must be dequeued. */
export function acquireSlot(
  connection: Connection,
  maxConcurrent: number,
  onCancel: (dequeue: () => void) => void,
): Promise<void> | undefined {
  if (connection.waiting.size() === 0 && canStart(connection, maxConcurrent)) {
    start(connection);
    return undefined;
  }
  return new Promise((resolve) => {
    const entry = connection.waiting.add(resolve);
    onCancel(() => connection.waiting.remove(entry));
  });
}

/** Call when the client has read the response, or has disconnected. */
export function releaseSlot(connection: Connection, maxConcurrent: number): void {
  connection.requests -= 1;
  const { waiting } = connection;
  for (let next = waiting.first(); next !== undefined; next = waiting.first()) {
    if (!canStart(connection, maxConcurrent)) return;
    waiting.remove(next);
    start(connection);
    next.value();
  }
}

function start(connection: Connection): void {
  connection.requests += 1;
  connection.requestsStarted += 1;
}
