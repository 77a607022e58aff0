// How much may be under way in each direction, by stream; number 0 is the connection itself.

export type Windows = {
  /** Bytes that came. */
  readonly received: (id: number, bytes: number) => void;
  /** How many of them were not accounted for yet. */
  readonly unread: (id: number) => number;
  /** They were read; how much the other side should be told, 0 while it is not worth a frame. */
  readonly taken: (id: number, bytes: number) => number;
  /** How much of what is wished may be sent now; it counts as sent. */
  readonly reserve: (id: number, wished: number) => number;
  /** Called once when more may be sent, or the stream has gone. */
  readonly wait: (id: number, listener: () => void) => void;
  readonly grow: (id: number, delta: number) => void;
  readonly setInitial: (bytes: number) => void;
  readonly forget: (id: number) => void;
};

/** What SPDY/3.1 begins with. */
const defaultWindow = 64 * 1024;
const worthTelling = defaultWindow / 2;
const largestWindow = 0x7fff_ffff;

export function createWindows(): Windows {
  let initial = defaultWindow;
  /** Whether the other side has windows; until it says so, there is no limit. */
  let areUsed = false;
  /** Sent less granted; negative: granted ahead. */
  const sent = new Map<number, number>();
  const unread = new Map<number, number>();
  const untold = new Map<number, number>();
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
    taken(id, bytes) {
      add(unread, id, -bytes);
      const delta = add(untold, id, bytes);
      if (delta < worthTelling) return 0;
      untold.set(id, 0);
      return delta;
    },
    reserve(id, wished) {
      const size = areUsed ? Math.max(0, Math.min(wished, room(id), room(0))) : wished;
      add(sent, id, size);
      add(sent, 0, size);
      return size;
    },
    wait: (id, listener) => void waiting.set(id, listener),
    grow(id, delta) {
      areUsed = true;
      sent.set(id, Math.max(add(sent, id, -delta), defaultWindow - largestWindow));
      wake();
    },
    setInitial(bytes) {
      areUsed = true;
      initial = bytes;
      wake();
    },
    forget(id) {
      for (const map of [sent, unread, untold]) map.delete(id);
      const listener = waiting.get(id);
      waiting.delete(id);
      listener?.();
    },
  };
}
