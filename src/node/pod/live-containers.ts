// The containers of one pod as the files that start and stop them share them.
import type { Container } from '../../kinds/pod/container.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { PodAttachment } from '../network/pod-network.ts';
import type { NodeParts } from '../node-parts.ts';
import type { RunningContainer } from '../runtimes/runtime.ts';
import type { PodVolumes } from '../volumes/run-volumes.ts';
import { listOf } from './container-lists.ts';
import type { ContainerRecord } from './container-record.ts';

export type PodPlace = {
  readonly attachment: PodAttachment;
  readonly volumes: PodVolumes;
  readonly directory: string;
};

export type Live = {
  readonly running: RunningContainer;
  readonly place: PodPlace;
  /** Ends all probes. */
  readonly probing: AbortController;
  /** Ends those whose failure would end the container: it ends anyway. */
  readonly restarting: AbortController;
};

export type Containers = {
  readonly parts: NodeParts;
  readonly records: Record<string, ContainerRecord>;
  readonly live: Map<string, Live>;
  readonly changed: () => void;
  readonly interrupted: AbortController;
};

/** In seconds, of a container that ends while its pod stays. */
export const graceOf = ({ spec }: Pod): number => spec.terminationGracePeriodSeconds ?? 30;

export function tell(
  { parts }: Containers,
  pod: Pod,
  container: Container,
  event: readonly [string, string, string?],
): void {
  const [reason, message, type = 'Normal'] = event;
  parts.events.record(pod, {
    type: type === 'Warning' ? 'Warning' : 'Normal',
    reason,
    message,
    fieldPath: `spec.${listOf(pod, container.name)}{${container.name}}`,
  });
}

export function note(
  { records, changed }: Containers,
  { name }: Container,
  more: Partial<ContainerRecord>,
): void {
  const record = records[name];
  if (record === undefined || record.state.kind !== 'running') return;
  records[name] = { ...record, ...more };
  changed();
}

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
