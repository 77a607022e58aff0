// Work of which one piece is done in each turn of the event loop, so that everything else comes between.

/** Hands over a piece of work; pieces are done in the order in which they came. */
export type Turns = (work: () => void) => void;

export function createTurns(): Turns {
  const waiting: (() => void)[] = [];
  let first = 0;

  function takeTurn(): void {
    const work = waiting[first];
    first += 1;
    if (first < waiting.length) setImmediate(takeTurn);
    else {
      waiting.length = 0;
      first = 0;
    }
    work?.();
  }

  return (work) => {
    waiting.push(work);
    if (waiting.length === 1) setImmediate(takeTurn);
  };
}
