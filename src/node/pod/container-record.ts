// What a node remembers of one container of a pod: its state now, how it last ended, and how often it was started.
import type { ResourceRequirements } from '../../kinds/pod/resources.ts';

export type Waiting = {
  readonly kind: 'waiting';
  readonly reason: string;
  readonly message?: string;
  /** It could not be made; not tried again before. */
  readonly retryAt?: number;
};

export type Running = {
  readonly kind: 'running';
  readonly id: string;
  readonly startedAt: number;
};

export type Terminated = {
  readonly kind: 'terminated';
  readonly id?: string;
  readonly exitCode: number;
  readonly signal?: number;
  readonly reason: string;
  readonly message?: string;
  /** Absent when it never started. */
  readonly startedAt?: number;
  readonly finishedAt: number;
};

export type ContainerRecord = {
  readonly state: Waiting | Running | Terminated;
  readonly last?: Terminated;
  /** Of starts after the first. */
  readonly restartCount: number;
  /** Whether it runs and its startup probe has succeeded, where it has one. */
  readonly isStarted: boolean;
  readonly isReady: boolean;
  /** How long the next restart waits; absent while it was never restarted. */
  readonly backOff?: BackOff;
  /** The amounts that it is held to since it started, or since it was resized. */
  readonly resources?: ResourceRequirements;
  /** Why it is not held to those that the pod wants by now. */
  readonly resizeProblem?: string;
  /** A stop has been asked for; it is still there. */
  readonly isStopping?: boolean;
};

export type BackOff = { readonly delayMs: number; readonly updatedAt: number };

export type ContainerRecords = Readonly<Record<string, ContainerRecord>>;
