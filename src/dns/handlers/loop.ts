// A question that we sent ourselves and that comes back means that an upstream server asks us: nothing good comes of asking it.
import type { Handler } from '../question.ts';
import { emptyAnswer } from '../wire/answer.ts';
import type { WireName } from '../wire/names.ts';
import { rcodes } from '../wire/record-types.ts';

export type LoopGuard = {
  readonly handler: Handler;
  /** Calls back when a question for this name arrives. Returns how to stop expecting it. */
  readonly expect: (name: WireName, cameBack: () => void) => () => void;
};

export function createLoopGuard(): LoopGuard {
  const expected = new Map<WireName, () => void>();
  return {
    handler: {
      name: 'loop',
      answer({ name }) {
        const cameBack = expected.size === 0 ? undefined : expected.get(name);
        if (cameBack === undefined) return undefined;
        cameBack();
        return emptyAnswer(rcodes.REFUSED);
      },
    },
    expect(name, cameBack) {
      expected.set(name, cameBack);
      return () => expected.delete(name);
    },
  };
}
