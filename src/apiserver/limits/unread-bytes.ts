// Bytes of responses that clients do not read: limited for each connection, in total and in time. A watch that is cut
// lists anew; a response that its client does not read is aborted.

/** One response on its way to one client. */
export type Reader = {
  /** The same for all responses on one connection. */
  readonly connection: object;
  /** Bytes that were written and that the client has not read. */
  readonly unread: () => number;
  /** Aborts it, so that the client cannot mistake it for a complete response. */
  readonly cut: () => void;
  /**
   * A response of known length. As long as it is the only one, it may exceed the limits: otherwise no client could ever
   * get it.
   */
  readonly isComplete?: boolean;
};

export type CutReason = 'connection' | 'total' | 'stalled';

export type UnreadOptions = {
  readonly perConnectionBytes: number;
  readonly totalBytes: number;
  /** A client that reads nothing for so long counts as disconnected. */
  readonly stalledMs: number;
  readonly onCut?: (reason: CutReason, unread: number) => void;
};

export type UnreadBytes = {
  /** Call after writing that many bytes. */
  readonly wrote: (reader: Reader, bytes: number) => void;
  readonly closed: (reader: Reader) => void;
  /** Bytes that slow readers have not read. */
  readonly total: () => number;
  readonly readers: () => number;
  readonly stop: () => void;
};

/** Up to this, a reader is not tracked: so much is unread now and then on every connection. */
export const maxUntrackedBytes = 64 * 1024;
/** Checks within the time after which a reader counts as stalled. */
const checksPerTimeout = 6;

type SlowReader = { unread: number; written: number; delivered: number; stalledChecks: number };

export function createUnreadBytes(options: UnreadOptions): UnreadBytes {
  const { perConnectionBytes, totalBytes, stalledMs, onCut = () => {} } = options;
  const sums = createSums();
  const { slow } = sums;
  let timer: NodeJS.Timeout | undefined;

  function wrote(reader: Reader, bytes: number): void {
    const slowReader = slow.get(reader);
    if (slowReader === undefined) {
      const unread = reader.unread();
      if (unread <= maxUntrackedBytes) return;
      slow.set(reader, { unread, written: unread, delivered: 0, stalledChecks: 0 });
      sums.grow(reader, unread);
      timer ??= setInterval(cutStalled, stalledMs / checksPerTimeout).unref();
    } else {
      slowReader.written += bytes;
      sums.grow(reader, bytes);
    }
    if (sums.of(reader) > perConnectionBytes || sums.total() > totalBytes) cutLargest();
  }

  /** Cuts the largest responses until the limits hold. */
  function cutLargest(): void {
    sums.measure();
    const largestFirst = [...slow].sort(([, a], [, b]) => b.unread - a.unread);
    for (const [reader, { unread }] of largestFirst) {
      const exempt = reader.isComplete ? unread : 0;
      if (isOver(sums.of(reader), perConnectionBytes, exempt)) cut(reader, 'connection');
      else if (isOver(sums.total(), totalBytes, exempt)) cut(reader, 'total');
    }
  }

  function cutStalled(): void {
    sums.measure();
    for (const [reader, slowReader] of slow) {
      const delivered = slowReader.written - slowReader.unread;
      slowReader.stalledChecks =
        delivered > slowReader.delivered ? 0 : slowReader.stalledChecks + 1;
      slowReader.delivered = delivered;
      if (slowReader.stalledChecks >= checksPerTimeout) cut(reader, 'stalled');
    }
    if (slow.size === 0) stop();
  }

  function cut(reader: Reader, reason: CutReason): void {
    const unread = slow.get(reader)?.unread ?? 0;
    sums.drop(reader);
    reader.cut();
    onCut(reason, unread);
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }

  function total(): number {
    sums.measure();
    return sums.total();
  }

  return { wrote, closed: sums.drop, total, readers: () => slow.size, stop };
}

/** `exempt` bytes may exceed the limit when they are all there is. */
const isOver = (bytes: number, limit: number, exempt: number): boolean =>
  bytes > limit && bytes > exempt;

type Sums = {
  readonly slow: Map<Reader, SlowReader>;
  readonly grow: (reader: Reader, bytes: number) => void;
  readonly drop: (reader: Reader) => void;
  /** Reads the actual numbers, and drops readers that have caught up. */
  readonly measure: () => void;
  readonly total: () => number;
  /** The bytes of the reader's connection. */
  readonly of: (reader: Reader) => number;
};

/** Exact after `measure()`; from then on, every write adds to them. */
function createSums(): Sums {
  const slow = new Map<Reader, SlowReader>();
  const connections = new Map<object, number>();
  let total = 0;

  function grow({ connection }: Reader, bytes: number): void {
    total += bytes;
    const sum = (connections.get(connection) ?? 0) + bytes;
    if (sum > 0) connections.set(connection, sum);
    else connections.delete(connection);
  }

  return {
    slow,
    grow,
    drop(reader) {
      const slowReader = slow.get(reader);
      if (slowReader === undefined) return;
      slow.delete(reader);
      grow(reader, -Math.min(slowReader.unread, total));
    },
    measure() {
      total = 0;
      connections.clear();
      for (const [reader, slowReader] of slow) {
        slowReader.unread = reader.unread();
        if (slowReader.unread <= maxUntrackedBytes) slow.delete(reader);
        else grow(reader, slowReader.unread);
      }
    },
    total: () => total,
    of: ({ connection }) => connections.get(connection) ?? 0,
  };
}
