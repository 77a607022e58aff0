// Chains that come, go and change.
import { type ElementDifference, keyText } from './diff-elements.ts';
import { chainFingerprint } from './fingerprint.ts';
import type { Entry } from './fragment.ts';
import type { ChainRules } from './rules.ts';
import type { Uses } from './uses.ts';

export type WrittenChains = {
  /** Those that nobody used before. */
  readonly fresh: readonly ChainRules[];
  /** Those that have other rules than before. */
  readonly changed: readonly ChainRules[];
};

type ChainDifference = {
  readonly take: (chain: ChainRules) => void;
  readonly leave: (chain: ChainRules) => void;
  readonly written: () => WrittenChains;
  /** Those that nobody wants any more. */
  readonly left: () => readonly string[];
};

/** All that is left is left before anything is taken. Fingerprints come and go with the chains. */
export function createChainDifference(uses: Uses, elements: ElementDifference): ChainDifference {
  const left = new Map<string, Entry>();
  const fresh: ChainRules[] = [];
  const changed: ChainRules[] = [];
  return {
    leave: ({ chain: { name } }) => {
      const use = uses.chains.get(name);
      if (use === undefined) return;
      use.count -= 1;
      if (use.count > 0) return;
      uses.chains.delete(name);
      left.set(name, use.fingerprint);
      elements.leave(use.fingerprint);
    },
    take: (one) => {
      const { name } = one.chain;
      const use = uses.chains.get(name);
      if (use !== undefined) {
        use.count += 1;
        return;
      }
      const fingerprint = chainFingerprint(one);
      uses.chains.set(name, { count: 1, fingerprint, rules: one.rules.length });
      elements.take(fingerprint);
      const before = left.get(name);
      left.delete(name);
      if (before === undefined) fresh.push(one);
      else if (keyText(before.element) !== keyText(fingerprint.element)) changed.push(one);
    },
    written: () => ({ fresh, changed }),
    left: () => [...left.keys()],
  };
}
