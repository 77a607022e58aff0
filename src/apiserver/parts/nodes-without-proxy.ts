// Ready nodes of which no proxy is among the parts that were questioned: what their rules do is not known.
import { isNodeReady } from '../../kinds/node/readiness.ts';
import type { Node } from '../../kinds/node/types.ts';
import { parsePartName } from '../../kinds/part/names.ts';
import type { PartAnswer } from '../../kinds/part/question.ts';
import type { ApiContext } from '../context.ts';

export function nodesWithoutProxy(
  { resources }: ApiContext,
  answers: readonly PartAnswer[],
): readonly string[] {
  const covered = new Set(
    answers.flatMap(({ part }) => {
      const name = parsePartName(part);
      return name?.kind === 'proxy' ? [name.node] : [];
    }),
  );
  const nodes = resources.reader.list('nodes') as readonly Node[];
  return nodes
    .filter((node) => isNodeReady(node) && !covered.has(node.metadata.name ?? ''))
    .map(({ metadata }) => metadata.name ?? '');
}
