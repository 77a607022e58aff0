// Counts the open streams of each user: one counter for watches, one for the tunnels of exec, attach and port-forward.

export type StreamCount = {
  /** For each user; 0 is no limit. */
  readonly limit: number;
  /** Whether the user may have one more, which counts as so many (default: one). */
  readonly hasRoom: (user: string, weight?: number) => boolean;
  /** Returns what to call when the stream has ended. */
  readonly add: (user: string, weight?: number) => () => void;
};

export function createStreamCount(perUser: number): StreamCount {
  const open = new Map<string, number>();
  return {
    limit: perUser,
    hasRoom: (user, weight = 1) => perUser === 0 || (open.get(user) ?? 0) + weight <= perUser,
    add(user, weight = 1) {
      open.set(user, (open.get(user) ?? 0) + weight);
      let isOpen = true;
      return () => {
        if (!isOpen) return;
        isOpen = false;
        const left = (open.get(user) ?? weight) - weight;
        if (left > 0) open.set(user, left);
        else open.delete(user);
      };
    },
  };
}

/** Of the selectors of a watch, in letters: many times what clients that mean well write. */
const lettersPerWatch = 1024;

/**
 * As how many watches one counts. It keeps its selectors and asks them of every change, both in proportion to their length: 2,000
 * watches with as long ones as a request has room for would take gigabytes, and hold up each write for a quarter of a second.
 */
export function weightOfWatch({ fieldSelector = '', labelSelector = '' }: Selectors): number {
  return 1 + Math.floor((fieldSelector.length + labelSelector.length) / lettersPerWatch);
}

type Selectors = { readonly fieldSelector?: string; readonly labelSelector?: string };
