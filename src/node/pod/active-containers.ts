// The state of one pod's containers, shared by the files that start, stop and resize them.
import type { Container } from '../../kinds/pod/container.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { PodAttachment } from '../network/pod-network.ts';
import type { NodeParts } from '../node-parts.ts';
import type { RunningContainer } from '../runtimes/runtime.ts';
import type { PodVolumes } from '../volumes/run-volumes.ts';
import { listOf } from './container-lists.ts';
import type { ContainerRecord } from './container-record.ts';

export type PodSandbox = {
  readonly attachment: PodAttachment;
  readonly volumes: PodVolumes;
  readonly directory: string;
};

export type ActiveContainer = {
  readonly running: RunningContainer;
  readonly sandbox: PodSandbox;
  /** Aborts all probes. */
  readonly probing: AbortController;
  /** Aborts startup and liveness probes: the container is being stopped anyway. */
  readonly restarting: AbortController;
};

export type Containers = {
  readonly parts: NodeParts;
  readonly records: Record<string, ContainerRecord>;
  readonly active: Map<string, ActiveContainer>;
  readonly changed: () => void;
  readonly interrupted: AbortController;
};

/** Seconds, of a container that is stopped while its pod stays. */
export const graceOf = ({ spec }: Pod): number => spec.terminationGracePeriodSeconds ?? 30;

export function recordEvent(
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

/** Changes the record of a container, if it is running. */
export function updateRunning(
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
