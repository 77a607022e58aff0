// Chains that are added, removed and changed.
import { type ElementDifference, keyText } from './diff-elements.ts';
import { chainFingerprint } from './fingerprint.ts';
import type { Entry } from './fragment.ts';
import type { ChainRules } from './rules.ts';
import type { Uses } from './uses.ts';

export type WrittenChains = {
  /** Chains that were not in use. */
  readonly fresh: readonly ChainRules[];
  /** Chains with changed rules. */
  readonly changed: readonly ChainRules[];
};

type ChainDifference = {
  readonly take: (chain: ChainRules) => void;
  readonly release: (chain: ChainRules) => void;
  readonly written: () => WrittenChains;
  /** Chains that are no longer in use. */
  readonly unused: () => readonly string[];
};

/** All releases must come before anything is taken. Fingerprints are added and removed with their chains. */
export function createChainDifference(uses: Uses, elements: ElementDifference): ChainDifference {
  const unused = new Map<string, Entry>();
  const fresh: ChainRules[] = [];
  const changed: ChainRules[] = [];
  return {
    release: ({ chain: { name } }) => {
      const use = uses.chains.get(name);
      if (use === undefined) return;
      use.count -= 1;
      if (use.count > 0) return;
      uses.chains.delete(name);
      unused.set(name, use.fingerprint);
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
      const before = unused.get(name);
      unused.delete(name);
      if (before === undefined) fresh.push(one);
      else if (keyText(before.element) !== keyText(fingerprint.element)) changed.push(one);
    },
    written: () => ({ fresh, changed }),
    unused: () => [...unused.keys()],
  };
}
