// What changed in a pod, as far as it concerns those who connect to it.
import type { ContainerStatus } from '../kinds/pod/pod-status.ts';
import { isPodFinished, isPodReady, podCondition } from '../kinds/pod/readiness.ts';
import { summarizePod } from '../kinds/pod/summary.ts';
import type { Pod } from '../kinds/pod/types.ts';
import { cutText } from '../meta/cut-text.ts';
import { type Labels, matchesSelector, selectorFromMap } from '../meta/labels.ts';
import { controllerOf } from '../meta/owner.ts';
import type { EventLevel, EventType, PodFacts } from './history.ts';

export type Described = {
  readonly type: EventType;
  readonly level: EventLevel;
  readonly sentence: string;
};

/** Messages of programs may have any length. */
const maxMessageLength = 200;

export type PodVersions = {
  readonly before: Pod | undefined;
  readonly after: Pod | undefined;
  /** Of the Service at that moment. */
  readonly selector: Labels | undefined;
};

export function describePodChange({ before, after, selector }: PodVersions): readonly Described[] {
  const name = `pod ${(after ?? before)?.metadata.name ?? ''}`;
  if (after === undefined) return [info('PodDeleted', `${name} deleted`)];
  if (before === undefined) return [info('PodCreated', `${name} created${originOf(after)}`)];
  return [
    ...selectionChange(name, { before, after, selector }),
    ...scheduled(name, before, after),
    ...terminating(name, before, after),
    ...readiness(name, before, after),
    ...finished(name, before, after),
    ...containerChanges(name, before, after),
  ];
}

const info = (type: EventType, sentence: string): Described => ({ type, level: 'info', sentence });
const warning = (type: EventType, sentence: string): Described => ({
  ...{ type, level: 'warning', sentence },
});

function originOf(pod: Pod): string {
  const owner = controllerOf(pod);
  const by = owner === undefined ? '' : ` for ${owner.kind} ${owner.name}`;
  return pod.spec.nodeName ? `${by} on node ${pod.spec.nodeName}` : by;
}

type Two = { readonly before: Pod; readonly after: Pod; readonly selector: Labels | undefined };

function selectionChange(name: string, { before, after, selector }: Two): readonly Described[] {
  if (selector === undefined || Object.keys(selector).length === 0) return [];
  const wanted = selectorFromMap(selector);
  const was = matchesSelector(wanted, before.metadata.labels);
  const is = matchesSelector(wanted, after.metadata.labels);
  if (was === is) return [];
  const changed = Object.keys(selector)
    .filter((key) => before.metadata.labels?.[key] !== after.metadata.labels?.[key])
    .map((key) => `label ${key} ${labelChange(before, after, key)}`);
  const why = cutText(changed.join(', '), maxMessageLength);
  return [
    is
      ? info('PodSelected', `${name} matches the selector now: ${why}`)
      : warning('PodNotSelected', `${name} matches the selector no longer: ${why}`),
  ];
}

function labelChange(before: Pod, after: Pod, key: string): string {
  const [was, is] = [before.metadata.labels?.[key], after.metadata.labels?.[key]];
  if (was === undefined) return `set to ${is}`;
  return is === undefined ? `${was} removed` : `changed from ${was} to ${is}`;
}

function scheduled(name: string, before: Pod, after: Pod): readonly Described[] {
  const { nodeName } = after.spec;
  return nodeName && before.spec.nodeName !== nodeName
    ? [info('PodScheduled', `${name} scheduled to node ${nodeName}`)]
    : [];
}

function terminating(name: string, before: Pod, after: Pod): readonly Described[] {
  const { deletionTimestamp, deletionGracePeriodSeconds: grace } = after.metadata;
  if (deletionTimestamp === undefined || before.metadata.deletionTimestamp !== undefined) return [];
  const within = grace === undefined ? '' : `, with ${grace} s to end`;
  return [info('PodTerminating', `${name} is terminating${within}`)];
}

function readiness(name: string, before: Pod, after: Pod): readonly Described[] {
  const [was, is] = [isPodReady(before), isPodReady(after)];
  if (was === is) return [];
  if (is) return [info('PodReady', `${name} became ready`)];
  const condition = podCondition(after, 'Ready');
  const why = reasonText(condition?.reason, condition?.message);
  // What terminates or has ended becomes unready, too: that is no surprise.
  const isExpected = after.metadata.deletionTimestamp !== undefined || isPodFinished(after);
  const describe = isExpected ? info : warning;
  return [describe('PodNotReady', `${name} became not ready${why}`)];
}

function reasonText(reason: string | undefined, message: string | undefined): string {
  const words = [reason, message].filter((text) => text !== undefined && text !== '');
  return words.length === 0 ? '' : cutText(`: ${words.join(': ')}`, maxMessageLength);
}

function finished(name: string, before: Pod, after: Pod): readonly Described[] {
  if (isPodFinished(before) || !isPodFinished(after)) return [];
  const { phase, reason, message } = after.status;
  // What is to end may end with any exit code.
  if (after.metadata.deletionTimestamp !== undefined)
    return [info('PodFinished', `${name} has ended`)];
  return phase === 'Failed'
    ? [warning('PodFinished', `${name} failed${reasonText(reason, message)}`)]
    : [info('PodFinished', `${name} has completed`)];
}

/** A pod has a few containers; more are not followed. */
const maxContainers = 50;
/** A container that starts is no event. */
const harmless: ReadonlySet<string> = new Set(['PodInitializing', 'ContainerCreating', '']);

function containerChanges(name: string, before: Pod, after: Pod): readonly Described[] {
  const was = new Map(statusesOf(before).map((status) => [status.name, status]));
  return statusesOf(after).flatMap((is) => {
    const container = `container ${is.name} of ${name}`;
    return [
      ...restarted(container, was.get(is.name), is),
      ...waits(container, was.get(is.name), is),
    ];
  });
}

function statusesOf({ status }: Pod): readonly ContainerStatus[] {
  const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  return all.slice(0, maxContainers);
}

function restarted(
  container: string,
  before: ContainerStatus | undefined,
  after: ContainerStatus,
): readonly Described[] {
  const { restartCount, lastState } = after;
  if (before === undefined || restartCount <= before.restartCount) return [];
  const { terminated } = lastState ?? {};
  const end =
    terminated === undefined
      ? ''
      : cutText(
          `: exit code ${terminated.exitCode}${terminated.reason ? `, ${terminated.reason}` : ''}`,
          maxMessageLength,
        );
  return [warning('ContainerRestarted', `${container} restarted, restart ${restartCount}${end}`)];
}

function waits(
  container: string,
  before: ContainerStatus | undefined,
  after: ContainerStatus,
): readonly Described[] {
  const { reason = '', message } = after.state.waiting ?? {};
  if (harmless.has(reason) || before?.state.waiting?.reason === reason) return [];
  return [warning('ContainerWaiting', `${container} waits${reasonText(reason, message)}`)];
}

export function podFacts(pod: Pod): PodFacts {
  const { metadata, spec, status } = pod;
  const { reason, restarts } = summarizePod(pod);
  return {
    name: metadata.name ?? '',
    ...(spec.nodeName ? { node: spec.nodeName } : {}),
    addresses: (status.podIPs ?? []).map(({ ip }) => ip),
    status: cutText(reason, maxMessageLength),
    ready: isPodReady(pod),
    restarts,
    created: metadata.creationTimestamp ?? '',
  };
}
