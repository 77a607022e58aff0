// Holds the end of a pod back until every proxy and DNS has let go of it: see docs/decisions/0015-holding-sigterm-back.md.
import type { Clock } from '../host/clock.ts';
import type { NodeThread } from './start-node-thread.ts';

export type ReleaseOptions = {
  readonly clock: Clock;
  /** All nodes there are. */
  readonly nodes: () => readonly Pick<NodeThread, 'name' | 'send'>[];
};

export type Releases = {
  /** A pod of the node is to end; the node is told when it may. */
  readonly begin: (node: Pick<NodeThread, 'send'>, id: number, ips: readonly string[]) => void;
  /** A node's rules lead to the pod no longer. */
  readonly letGo: (node: Pick<NodeThread, 'name'>, id: number) => void;
};

/** A node that does not answer must not keep a pod from ending. */
const maxMs = 10_000;
/**
 * Between asking the first and the second time: longer than a proxy gathers changes (1 s). A pod that ends right after it became ready is in no rule yet,
 * and comes into them with the next write; the second question finds it there. Requests that were on their way end meanwhile.
 */
const settleMs = 1500;
const rounds = 2;

export function createReleases({ clock, nodes }: ReleaseOptions): Releases {
  type Waiting = { readonly missing: Set<string>; readonly done: () => void };
  const waiting = new Map<number, Waiting>();
  let last = 0;
  /** Asks all nodes; returns how to stop asking. */
  const askAll = (ips: readonly string[], done: () => void): (() => void) => {
    last += 1;
    const ticket = last;
    const asked = nodes();
    waiting.set(ticket, { missing: new Set(asked.map(({ name }) => name)), done });
    for (const { send } of asked) send({ kind: 'watch', id: ticket, ips });
    return () => {
      waiting.delete(ticket);
      for (const { send } of asked) send({ kind: 'unwatch', id: ticket });
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
      const cancel = clock.after(maxMs, release);
      const round = (left: number): void => {
        if (left === 0) {
          release();
          return;
        }
        stopRound = askAll(ips, () => {
          stopRound();
          stopRound = clock.after(left === 1 ? 0 : settleMs, () => round(left - 1));
        });
      };
      round(rounds);
    },
    letGo({ name }, ticket) {
      const found = waiting.get(ticket);
      if (found?.missing.delete(name) && found.missing.size === 0) found.done();
    },
  };
}
