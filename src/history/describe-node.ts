// What changed in a node, as far as it concerns the pods on it.
import { isNodeReady, nodeCondition } from '../kinds/node/readiness.ts';
import type { Node } from '../kinds/node/types.ts';
import { cutText } from '../meta/cut-text.ts';
import type { Described } from './describe-pod.ts';
import type { NodeFacts } from './history.ts';

const maxMessageLength = 200;

export function describeNodeChange(
  before: Node | undefined,
  after: Node | undefined,
): readonly Described[] {
  const name = `node ${(after ?? before)?.metadata.name ?? ''}`;
  if (after === undefined) {
    return [{ type: 'NodeDeleted', level: 'warning', sentence: `${name} deleted` }];
  }
  if (before === undefined) {
    return [{ type: 'NodeCreated', level: 'info', sentence: `${name} created` }];
  }
  return [...readiness(name, before, after), ...cordon(name, before, after)];
}

function readiness(name: string, before: Node, after: Node): readonly Described[] {
  const is = isNodeReady(after);
  if (isNodeReady(before) === is) return [];
  if (is) return [{ type: 'NodeReady', level: 'info', sentence: `${name} became ready` }];
  const { reason = '', message = '' } = nodeCondition(after, 'Ready') ?? {};
  const why = [reason, message].filter((text) => text !== '').join(': ');
  const sentence = `${name} became not ready${why === '' ? '' : `: ${cutText(why, maxMessageLength)}`}`;
  return [{ type: 'NodeNotReady', level: 'warning', sentence }];
}

function cordon(name: string, before: Node, after: Node): readonly Described[] {
  const is = after.spec.unschedulable === true;
  if ((before.spec.unschedulable === true) === is) return [];
  return is
    ? [{ type: 'NodeCordoned', level: 'info', sentence: `${name} takes no new pods: cordoned` }]
    : [{ type: 'NodeUncordoned', level: 'info', sentence: `${name} takes new pods again` }];
}

export function nodeFacts(node: Node): NodeFacts {
  return {
    name: node.metadata.name ?? '',
    ready: isNodeReady(node),
    schedulable: node.spec.unschedulable !== true,
  };
}
