// Work of which one piece is done in each turn of the event loop, so that everything else comes between.
import { createLinkedQueue } from '../../host/linked-queue.ts';

/** Hands over a piece of work; pieces are done in the order in which they came. */
export type HandshakeQueue = (work: () => void) => void;

export function createHandshakeQueue(): HandshakeQueue {
  const waiting = createLinkedQueue<() => void>();

  function takeTurn(): void {
    const next = waiting.first();
    if (next === undefined) return;
    waiting.remove(next);
    if (waiting.size() > 0) setImmediate(takeTurn);
    next.value();
  }

  return (work) => {
    waiting.add(work);
    if (waiting.size() === 1) setImmediate(takeTurn);
  };
}
