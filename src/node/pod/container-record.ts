// The agent's record of one container of a pod: its state, its last termination, and its restarts.
import type { ResourceRequirements } from '../../kinds/pod/resources.ts';

export type Waiting = {
  readonly kind: 'waiting';
  readonly reason: string;
  readonly message?: string;
  /** The container could not be created; not retried before this time. */
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
  /** Absent: it never started. */
  readonly startedAt?: number;
  readonly finishedAt: number;
};

export type ContainerRecord = {
  readonly state: Waiting | Running | Terminated;
  readonly last?: Terminated;
  /** Name and ID for its status; absent: it runs from this machine's files. */
  readonly image?: { readonly name: string; readonly id: string };
  /** Starts after the first. */
  readonly restartCount: number;
  /** It is running, and its startup probe has succeeded, if it has one. */
  readonly isStarted: boolean;
  readonly isReady: boolean;
  /** The delay of the next restart; absent: it was never restarted. */
  readonly backOff?: BackOff;
  /** The resources in effect, since its start or the last resize. */
  readonly resources?: ResourceRequirements;
  /** Why the resources of the pod's spec are not in effect. */
  readonly resizeProblem?: string;
  /** It is being stopped, and still running. */
  readonly isStopping?: boolean;
};

export type BackOff = { readonly delayMs: number; readonly updatedAt: number };

export type ContainerRecords = Readonly<Record<string, ContainerRecord>>;
