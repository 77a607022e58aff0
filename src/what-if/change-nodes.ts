// Draining, cordoning and deleting nodes.
import type { Node } from '../kinds/node/types.ts';
import { isMirrorPod } from '../kinds/pod/mirror.ts';
import { isPodFinished } from '../kinds/pod/readiness.ts';
import type { Pod } from '../kinds/pod/types.ts';
import { needsNoBudget } from '../kinds/pod-disruption-budget/protects.ts';
import { matchesSelector, selectorFromLabelSelector } from '../meta/labels.ts';
import { controllerOf } from '../meta/owner.ts';
import { nodeAddressesOf } from '../trace/resolve-source.ts';
import type { Change } from './change.ts';
import { type Draft, findObject, requireRead } from './draft.ts';
import { losePods } from './lose-pods.ts';
import { counted, namesText } from './words.ts';

type NodeChange = Extract<Change, { kind: 'drain' | 'cordon' }>;

export function cordonNode(draft: Draft, change: NodeChange): void {
  makeUnschedulable(draft, nodeOf(draft, change.node, change));
  draft.effects.push(`${change.text}: the node takes no new pods`);
}

/** As `kubectl drain --ignore-daemonsets --delete-emptydir-data --force` leaves a node. */
export function drainNode(draft: Draft, change: NodeChange): void {
  requireRead(draft, 'pods', change);
  const node = nodeOf(draft, change.node, change);
  makeUnschedulable(draft, node);
  const here = podsOn(draft, change.node);
  const evicted = here.filter((pod) => !isLeftByDrain(pod));
  const stays = here.length - evicted.length;
  noteBudgets(draft, evicted, change.node);
  losePods(draft, evicted, { how: 'evicted', by: change });
  const staying =
    stays === 0 ? '' : `, ${stays} of DaemonSets or static ${stays === 1 ? 'stays' : 'stay'}`;
  draft.effects.push(
    `${change.text}: ${counted(evicted.length, 'pod')} evicted${staying}, and the node takes no new pods`,
  );
  noteBarePods(draft, evicted, 'kubectl drain needs --force');
}

export function deleteNode(draft: Draft, name: string, change: Change): void {
  requireRead(draft, 'pods', change);
  const node = nodeOf(draft, name, change);
  draft.drop('nodes', node.metadata.name ?? '', change);
  const here = podsOn(draft, name);
  losePods(draft, here, { how: 'deleted', by: change });
  const addresses = nodeAddressesOf(node);
  const away =
    addresses.length === 0 ? '' : `, and node ports no longer answer at ${namesText(addresses)}`;
  draft.effects.push(
    `${change.text}: the node is gone with its ${counted(here.length, 'pod')}${away}`,
  );
  noteBarePods(draft, here, 'they are gone');
}

function nodeOf(draft: Draft, name: string, by: Change): Node {
  return findObject(draft, 'nodes', { target: { kind: 'Node', name }, by });
}

function makeUnschedulable(draft: Draft, node: Node): void {
  if (node.spec.unschedulable === true) return;
  draft.put('nodes', { ...node, spec: { ...node.spec, unschedulable: true } } as Node);
}

const podsOn = (draft: Draft, node: string): readonly Pod[] =>
  draft.all('pods').filter((pod) => pod.spec.nodeName === node && !isPodFinished(pod));

const isLeftByDrain = (pod: Pod): boolean =>
  isMirrorPod(pod) || controllerOf(pod)?.kind === 'DaemonSet';

/** A drain waits for disruption budgets; here its pods go in any case. */
function noteBudgets(draft: Draft, evicted: readonly Pod[], node: string): void {
  const { unread } = draft.snapshot;
  if (unread.some(({ kind, reason }) => kind === 'podDisruptionBudgets' && reason !== 'not-served'))
    draft.assumptions.add('Disruption budgets could not be read: kubectl drain may wait for them');
  const counts = evicted.filter((pod) => !needsNoBudget(pod));
  for (const budget of draft.all('podDisruptionBudgets')) {
    const selector = selectorFromLabelSelector(budget.spec.selector);
    const { namespace, name } = budget.metadata;
    const here = counts.filter(
      ({ metadata }) =>
        metadata.namespace === namespace && matchesSelector(selector, metadata.labels),
    );
    const { disruptionsAllowed: allowed } = budget.status;
    if (here.length <= allowed) continue;
    const many = allowed === 0 ? 'no eviction' : counted(allowed, 'eviction');
    draft.assumptions.add(
      `The drain of ${node} gets past the disruption budget ${namespace}/${name}, which allows ${many} now and is about ${counted(here.length, 'pod')} there: kubectl drain waits until it allows more`,
    );
  }
}

/** Pods that no controller makes anew. */
function noteBarePods(draft: Draft, pods: readonly Pod[], what: string): void {
  const bare = pods.filter((pod) => controllerOf(pod) === undefined && !isMirrorPod(pod));
  if (bare.length === 0) return;
  const names = namesText(bare.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`));
  draft.assumptions.add(
    `No controller makes ${bare.length === 1 ? 'this pod' : 'these pods'} anew (${what}): ${names}`,
  );
}
