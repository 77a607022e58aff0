// How many streams of one sort (watches, or tunnels of exec, attach and port-forward) each user has open.

export type StreamCount = {
  /** For each user; 0 is none. */
  readonly limit: number;
  /** Whether the user may have one more. */
  readonly hasRoom: (user: string) => boolean;
  /** Call the result when the stream has ended. */
  readonly opened: (user: string) => () => void;
};

/** No limit when it is 0. */
export function createStreamCount(perUser: number): StreamCount {
  const open = new Map<string, number>();
  return {
    limit: perUser,
    hasRoom: (user) => perUser === 0 || (open.get(user) ?? 0) < perUser,
    opened(user) {
      open.set(user, (open.get(user) ?? 0) + 1);
      let isOpen = true;
      return () => {
        if (!isOpen) return;
        isOpen = false;
        const left = (open.get(user) ?? 1) - 1;
        if (left > 0) open.set(user, left);
        else open.delete(user);
      };
    },
  };
}
