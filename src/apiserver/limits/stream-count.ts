// Counts the open streams of each user: one counter for watches, one for the tunnels of exec, attach and port-forward.

export type StreamCount = {
  /** For each user; 0 is no limit. */
  readonly limit: number;
  /** Whether the user may have one more. */
  readonly hasRoom: (user: string) => boolean;
  /** Returns what to call when the stream has ended. */
  readonly add: (user: string) => () => void;
};

export function createStreamCount(perUser: number): StreamCount {
  const open = new Map<string, number>();
  return {
    limit: perUser,
    hasRoom: (user) => perUser === 0 || (open.get(user) ?? 0) < perUser,
    add(user) {
      open.set(user, (open.get(user) ?? 0) + 1);
      let isOpen = true;
      return () => {
        if (!isOpen) return;
        isOpen = false;
        const remaining = (open.get(user) ?? 1) - 1;
        if (remaining > 0) open.set(user, remaining);
        else open.delete(user);
      };
    },
  };
}
