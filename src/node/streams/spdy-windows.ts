// Flow control windows of both directions, by stream id; id 0 is the connection.

export type Windows = {
  /** Counts received bytes. */
  readonly received: (id: number, bytes: number) => void;
  /** Received bytes that have not been acknowledged. */
  readonly unread: (id: number) => number;
  /** Counts bytes as read. Returns the delta for a WINDOW_UPDATE frame; 0 while it is too small. */
  readonly acknowledge: (id: number, bytes: number) => number;
  /** Returns how many of the bytes may be sent now, and counts them as sent. */
  readonly reserve: (id: number, wanted: number) => number;
  /** The listener is called once when more may be sent, or the stream is closed. */
  readonly wait: (id: number, listener: () => void) => void;
  readonly grow: (id: number, delta: number) => void;
  readonly setInitial: (bytes: number) => void;
  readonly forget: (id: number) => void;
};

/** The default of SPDY/3.1. */
const defaultWindow = 64 * 1024;
const minWindowUpdate = defaultWindow / 2;
const maxWindow = 0x7fff_ffff;

export function createWindows(): Windows {
  let initial = defaultWindow;
  /** Whether the client uses flow control; there is no limit before. */
  let areUsed = false;
  /** Bytes sent minus bytes granted; may be negative. */
  const sent = new Map<number, number>();
  const unread = new Map<number, number>();
  const unacknowledged = new Map<number, number>();
  const waiting = new Map<number, () => void>();
  const add = (map: Map<number, number>, id: number, bytes: number): number => {
    const sum = (map.get(id) ?? 0) + bytes;
    map.set(id, sum);
    return sum;
  };
  const room = (id: number): number => (id === 0 ? defaultWindow : initial) - (sent.get(id) ?? 0);
  const wake = (): void => {
    const listeners = [...waiting.values()];
    waiting.clear();
    for (const listener of listeners) listener();
  };
  return {
    received: (id, bytes) => void add(unread, id, bytes),
    unread: (id) => unread.get(id) ?? 0,
    acknowledge(id, bytes) {
      add(unread, id, -bytes);
      const delta = add(unacknowledged, id, bytes);
      if (delta < minWindowUpdate) return 0;
      unacknowledged.set(id, 0);
      return delta;
    },
    reserve(id, wanted) {
      const size = areUsed ? Math.max(0, Math.min(wanted, room(id), room(0))) : wanted;
      add(sent, id, size);
      add(sent, 0, size);
      return size;
    },
    wait: (id, listener) => void waiting.set(id, listener),
    grow(id, delta) {
      areUsed = true;
      sent.set(id, Math.max(add(sent, id, -delta), defaultWindow - maxWindow));
      wake();
    },
    setInitial(bytes) {
      areUsed = true;
      initial = bytes;
      wake();
    },
    forget(id) {
      for (const map of [sent, unread, unacknowledged]) map.delete(id);
      const listener = waiting.get(id);
      waiting.delete(id);
      listener?.();
    },
  };
}
