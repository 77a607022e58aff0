// Delays SIGTERM to a terminating pod until the rules of no node lead to it: see docs/decisions/0015-holding-sigterm-back.md.
import type { Clock } from '../host/clock.ts';
import type { NodeThread } from './start-node-thread.ts';

export type ReleaseOptions = {
  readonly clock: Clock;
  /** All nodes of the cluster. */
  readonly nodes: () => readonly Pick<NodeThread, 'name' | 'send'>[];
};

export type Releases = {
  /** A pod of the node is terminating; the node gets `released` when it may stop the containers. */
  readonly begin: (node: Pick<NodeThread, 'send'>, id: number, ips: readonly string[]) => void;
  /** The rules of a node no longer lead to the pod. */
  readonly unrouted: (node: Pick<NodeThread, 'name'>, id: number) => void;
};

/** A node that does not respond must not block the termination of a pod. */
const timeoutMs = 10_000;
/**
 * Between the two rounds: longer than a proxy batches changes (1 s). A pod that terminates right after it became ready may not be in
 * any rule yet and be added by the next write; the second round sees that. Requests in flight are completed meanwhile.
 */
const settleMs = 1500;
const rounds = 2;

export function createReleases({ clock, nodes }: ReleaseOptions): Releases {
  type Watch = { readonly pending: Set<string>; readonly done: () => void };
  const watches = new Map<number, Watch>();
  let lastWatch = 0;
  /** Starts a watch on all nodes; returns how to stop it. */
  const watchOnAll = (ips: readonly string[], done: () => void): (() => void) => {
    lastWatch += 1;
    const watchId = lastWatch;
    const watching = nodes();
    watches.set(watchId, { pending: new Set(watching.map(({ name }) => name)), done });
    for (const { send } of watching) send({ kind: 'watch', id: watchId, ips });
    return () => {
      watches.delete(watchId);
      for (const { send } of watching) send({ kind: 'unwatch', id: watchId });
    };
  };
  return {
    begin(node, id, ips) {
      let stopRound = (): void => {};
      const release = (): void => {
        stopRound();
        cancel();
        node.send({ kind: 'released', id });
      };
      const cancel = clock.after(timeoutMs, release);
      const round = (remaining: number): void => {
        if (remaining === 0) {
          release();
          return;
        }
        stopRound = watchOnAll(ips, () => {
          stopRound();
          stopRound = clock.after(remaining === 1 ? 0 : settleMs, () => round(remaining - 1));
        });
      };
      round(rounds);
    },
    unrouted({ name }, watchId) {
      const watch = watches.get(watchId);
      if (watch?.pending.delete(name) && watch.pending.size === 0) watch.done();
    },
  };
}
