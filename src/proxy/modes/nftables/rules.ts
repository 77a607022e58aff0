// Short words for the statements that rules are made of, and chains with their rules.
import type { Chain, Field, NftSet, Statement, Verdict } from '../../../host/nftables/objects.ts';

/** A chain with everything in it. */
export type ChainRules = {
  readonly chain: Chain;
  readonly rules: readonly (readonly Statement[])[];
};

export function jump(chain: string): Statement {
  return { kind: 'verdict', verdict: { kind: 'jump', chain } };
}

export function goTo(chain: string): Statement {
  return { kind: 'verdict', verdict: goToVerdict(chain) };
}

export function goToVerdict(chain: string): Verdict {
  return { kind: 'goto', chain };
}

export const drop: Statement = { kind: 'verdict', verdict: { kind: 'drop' } };
export const goBack: Statement = { kind: 'verdict', verdict: { kind: 'return' } };
export const isNewConnection: Statement = { kind: 'match-new-connection' };
export const isFromThisNode: Statement = { kind: 'match-local-address', field: 'source' };

export function isIn({ name }: NftSet, fields: readonly Field[]): Statement {
  return { kind: 'match-set', fields, set: name };
}

export function lookUpVerdict({ name }: NftSet, fields: readonly Field[]): Statement {
  return { kind: 'look-up-verdict', fields, map: name };
}

/** Draws one of `count` endpoints and sends the connection there. */
export function translateToOneOf(
  { name }: NftSet,
  fields: readonly Field[],
  count: number,
): Statement {
  return { kind: 'translate-by-map', fields: [...fields, { random: count }], map: name };
}
