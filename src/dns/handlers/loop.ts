// Recognizes probe queries of our own that an upstream server forwards back to us: a forwarding loop.
import type { Handler } from '../question.ts';
import { emptyAnswer } from '../wire/answer.ts';
import type { WireName } from '../wire/names.ts';
import { rcodes } from '../wire/record-types.ts';

export type LoopGuard = {
  readonly handler: Handler;
  /** Calls back when a query for this name arrives. Returns a function that cancels. */
  readonly expect: (name: WireName, onLoop: () => void) => () => void;
};

export function createLoopGuard(): LoopGuard {
  const expected = new Map<WireName, () => void>();
  return {
    handler: {
      name: 'loop',
      answer({ name }) {
        const onLoop = expected.size === 0 ? undefined : expected.get(name);
        if (onLoop === undefined) return undefined;
        onLoop();
        return emptyAnswer(rcodes.REFUSED);
      },
    },
    expect(name, onLoop) {
      expected.set(name, onLoop);
      return () => expected.delete(name);
    },
  };
}
