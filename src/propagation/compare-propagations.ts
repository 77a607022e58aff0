// What happened between two states of a propagation.
import type { ChangeType, PartState, Propagation, PropagationChange } from './propagation.ts';
import { keyedParts } from './state-of.ts';

type Facts = Pick<PropagationChange, 'part' | 'node' | 'reason'>;

export function changeOf(
  type: ChangeType,
  { time, revision }: Pick<Propagation, 'time' | 'revision'>,
  facts: Facts = {},
): PropagationChange {
  return {
    ...{ apiVersion: 'fairlead.dev/v1', kind: 'PropagationChange', time, type, revision },
    ...facts,
  };
}

export function comparePropagations(
  before: Propagation,
  after: Propagation,
): readonly PropagationChange[] {
  const [was, is] = [keyedParts(before.parts), keyedParts(after.parts)];
  const at = (type: ChangeType, facts?: Facts): PropagationChange => changeOf(type, after, facts);
  const changes = [
    ...(before.revision === after.revision ? [] : [at('RevisionChanged')]),
    ...[...was].flatMap(([key, part]) => (is.has(key) ? [] : [at('PartDisconnected', { part })])),
    ...[...is].flatMap(([key, part]) => {
      const known = was.get(key);
      return [
        ...(known === undefined ? [at('PartConnected', { part })] : []),
        ...(isSame(known, part) ? [] : [at(partChanges[part.state], { part })]),
      ];
    }),
    ...nodes(before, after).map((node) => at('NodeHasProxy', { node })),
    ...nodes(after, before).map((node) => at('NodeWithoutProxy', { node })),
  ];
  const isNewlyCurrent = after.state === 'current' && changes.length > 0;
  return isNewlyCurrent ? [...changes, at('AllCurrent')] : changes;
}

const partChanges = {
  current: 'PartCurrent',
  behind: 'PartBehind',
  'no-answer': 'PartNoAnswer',
} as const;

/** How long it has been so is no change: it is measured anew each time. */
function isSame(before: PartState | undefined, after: PartState): boolean {
  return (
    before !== undefined &&
    before.state === after.state &&
    before.revision === after.revision &&
    before.reason === after.reason
  );
}

const nodes = (of: Propagation, without: Propagation): readonly string[] =>
  of.nodesWithoutProxy.filter((node) => !without.nodesWithoutProxy.includes(node));
