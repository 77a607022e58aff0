// What clients have asked for and do not read: bounded for each connection and in all, and not for ever. A watcher is
// ended and lists anew; an answer that nobody takes is broken off.

/** One answer on its way to one client. */
export type Reader = {
  /** The same for all answers on one connection. */
  readonly connection: object;
  /** Bytes handed over that the client has not taken. */
  readonly unread: () => number;
  /** Ends it in a way that the client cannot take for the end of the answer. */
  readonly cut: () => void;
  /** An answer that is made and has an end. As long as it is alone, it may be larger than the limits: to cut it would make it one that nobody ever gets. */
  readonly isWhole?: boolean;
};

export type CutReason = 'connection' | 'total' | 'stalled';

export type UnreadOptions = {
  readonly perConnectionBytes: number;
  readonly totalBytes: number;
  /** A client that takes nothing for so long has gone. */
  readonly stalledMs: number;
  readonly onCut?: (reason: CutReason, unread: number) => void;
};

export type UnreadBytes = {
  /** Call after handing over that many bytes. */
  readonly wrote: (reader: Reader, bytes: number) => void;
  readonly gone: (reader: Reader) => void;
  /** Of those that are slow. */
  readonly total: () => number;
  readonly readers: () => number;
  readonly stop: () => void;
};

/** Less than this waits for every reader that is just not first in line. */
const unnoticed = 64 * 1024;
/** Looks within the time after which a reader counts as stalled. */
const looks = 6;

type Seen = { unread: number; written: number; taken: number; stalledLooks: number };

export function createUnreadBytes(options: UnreadOptions): UnreadBytes {
  const { perConnectionBytes, totalBytes, stalledMs, onCut = () => {} } = options;
  const sums = createSums();
  const { slow } = sums;
  let timer: NodeJS.Timeout | undefined;

  function wrote(reader: Reader, bytes: number): void {
    const seen = slow.get(reader);
    if (seen === undefined) {
      const unread = reader.unread();
      if (unread <= unnoticed) return;
      slow.set(reader, { unread, written: unread, taken: 0, stalledLooks: 0 });
      sums.grow(reader, unread);
      timer ??= setInterval(cutStalled, stalledMs / looks).unref();
    } else {
      seen.written += bytes;
      sums.grow(reader, bytes);
    }
    if (sums.of(reader) > perConnectionBytes || sums.total() > totalBytes) cutLargest();
  }

  /** Until the limits hold. */
  function cutLargest(): void {
    sums.measure();
    const largestFirst = [...slow].sort(([, a], [, b]) => b.unread - a.unread);
    for (const [reader, { unread }] of largestFirst) {
      const own = reader.isWhole ? unread : 0;
      if (isOver(sums.of(reader), perConnectionBytes, own)) cut(reader, 'connection');
      else if (isOver(sums.total(), totalBytes, own)) cut(reader, 'total');
    }
  }

  function cutStalled(): void {
    sums.measure();
    for (const [reader, seen] of slow) {
      const taken = seen.written - seen.unread;
      seen.stalledLooks = taken > seen.taken ? 0 : seen.stalledLooks + 1;
      seen.taken = taken;
      if (seen.stalledLooks >= looks) cut(reader, 'stalled');
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

  return { wrote, gone: sums.drop, total, readers: () => slow.size, stop };
}

/** `own` is what alone may be more. */
const isOver = (bytes: number, limit: number, own: number): boolean => bytes > limit && bytes > own;

type Sums = {
  readonly slow: Map<Reader, Seen>;
  readonly grow: (reader: Reader, bytes: number) => void;
  readonly drop: (reader: Reader) => void;
  /** Reads what is really unread, and forgets who has caught up. */
  readonly measure: () => void;
  readonly total: () => number;
  /** Of the reader's connection. */
  readonly of: (reader: Reader) => number;
};

/** Exact after measuring, then grown by all that is written. */
function createSums(): Sums {
  const slow = new Map<Reader, Seen>();
  const connections = new Map<object, number>();
  let total = 0;

  function grow({ connection }: Reader, bytes: number): void {
    total += bytes;
    const own = (connections.get(connection) ?? 0) + bytes;
    if (own > 0) connections.set(connection, own);
    else connections.delete(connection);
  }

  return {
    slow,
    grow,
    drop(reader) {
      const seen = slow.get(reader);
      if (seen === undefined) return;
      slow.delete(reader);
      grow(reader, -Math.min(seen.unread, total));
    },
    measure() {
      total = 0;
      connections.clear();
      for (const [reader, seen] of slow) {
        seen.unread = reader.unread();
        if (seen.unread <= unnoticed) slow.delete(reader);
        else grow(reader, seen.unread);
      }
    },
    total: () => total,
    of: ({ connection }) => connections.get(connection) ?? 0,
  };
}
