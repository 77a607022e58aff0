// What several fragments may want at once, and how many of them do.
import type { Entry } from './fragment.ts';

/** Who is used by how many fragments. Grows and shrinks with every difference that is made from it. */
export type Uses = {
  readonly chains: Map<string, ChainUse>;
  readonly elements: Map<string, number>;
};

export type ChainUse = {
  count: number;
  readonly fingerprint: Entry;
  readonly rules: number;
};

export function createUses(): Uses {
  return { chains: new Map(), elements: new Map() };
}
