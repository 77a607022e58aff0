// Whether what clients saw of one register can have happened one operation at a time, each at some moment between its
// question and its answer (linearizability). The search is Wing and Gong's, with Lowe's memory of what was tried.

export type Operation = {
  readonly kind: 'read' | 'write';
  /** Written, or read. Every value is written at most once. */
  readonly value: string;
  readonly startedAt: number;
  /** Absent: it is unknown whether and when it happened. */
  readonly endedAt?: number;
};

/** Undefined when it can; otherwise the operation at which every order breaks. */
export function findViolation(
  operations: readonly Operation[],
  initial: string,
): Operation | undefined {
  const relevant = withoutUnseen(operations);
  const entries = relevant
    .flatMap((operation, id): Entry[] => [
      { id, operation, at: operation.startedAt, isEnd: false },
      { id, operation, at: operation.endedAt ?? Number.POSITIVE_INFINITY, isEnd: true },
    ])
    .sort((a, b) => a.at - b.at || Number(a.isEnd) - Number(b.isEnd));
  return search(entries, relevant.length, initial);
}

type Entry = {
  readonly id: number;
  readonly operation: Operation;
  readonly at: number;
  readonly isEnd: boolean;
};

/** Reads without a response are ignored; a write without one that no read observed may not have happened. */
function withoutUnseen(operations: readonly Operation[]): readonly Operation[] {
  const read = new Set(operations.filter(isSeenRead).map(({ value }) => value));
  return operations.filter(
    ({ kind, value, endedAt }) => endedAt !== undefined || (kind === 'write' && read.has(value)),
  );
}

const isSeenRead = ({ kind, endedAt }: Operation): boolean =>
  kind === 'read' && endedAt !== undefined;

type Step = { readonly id: number; readonly before: string };

function search(entries: readonly Entry[], count: number, initial: string): Operation | undefined {
  const done = new Array<boolean>(count).fill(false);
  const tried = new Set<string>();
  const steps: Step[] = [];
  let value = initial;
  let from = 0;
  let furthest: Operation | undefined;
  let furthestDone = -1;
  for (;;) {
    const next = nextStep(entries, done, { from, value, tried });
    if (next === 'finished') return undefined;
    if (typeof next === 'number') {
      const { operation } = entries[next] as Entry;
      const { id } = entries[next] as Entry;
      steps.push({ id, before: value });
      done[id] = true;
      if (operation.kind === 'write') value = operation.value;
      from = 0;
      continue;
    }
    if (steps.length > furthestDone) {
      furthestDone = steps.length;
      furthest = next.stuckAt;
    }
    const last = steps.pop();
    if (last === undefined) return furthest;
    done[last.id] = false;
    value = last.before;
    from = 1 + entries.findIndex(({ id, isEnd }) => id === last.id && !isEnd);
  }
}

type Position = {
  readonly from: number;
  readonly value: string;
  readonly tried: Set<string>;
};

/** The next operation that may come now; or that there is none left, or none that fits. */
function nextStep(
  entries: readonly Entry[],
  done: readonly boolean[],
  { from, value, tried }: Position,
): number | 'finished' | { readonly stuckAt: Operation } {
  let index = 0;
  for (const { id, operation, isEnd } of entries) {
    const at = index;
    index += 1;
    if (done[id] === true) continue;
    // Whatever has ended must have happened before anything later.
    if (isEnd) return { stuckAt: operation };
    if (at < from) continue;
    const after = operation.kind === 'write' ? operation.value : value;
    if (operation.kind === 'read' && operation.value !== value) continue;
    const key = `${keyOf(done, id)} ${after}`;
    if (tried.has(key)) continue;
    tried.add(key);
    return at;
  }
  return 'finished';
}

/** Which operations are done when this one is too. */
function keyOf(done: readonly boolean[], also: number): string {
  const first = done.findIndex((isDone, id) => !isDone && id !== also);
  if (first === -1) return 'all';
  const rest = done.slice(first).map((isDone, n) => (isDone || first + n === also ? '1' : '0'));
  return `${first}:${rest.join('').replace(/0+$/, '')}`;
}
