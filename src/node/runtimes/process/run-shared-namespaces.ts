// What the containers of a pod have in common: messages and memory between processes and, where the pod says so, the processes themselves.
import type { ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import { createNamespace, type HeldNamespace } from '../../../host/namespaces.ts';
import { SystemCallError } from '../../../host/system-call-error.ts';
import type { Log } from '../../../observe/log.ts';
import { ContainerStartError, type ContainerToRun } from '../runtime.ts';
import { pauseSteps } from '../sandbox/pause-steps.ts';
import { architectureOf, spawnStarter } from '../sandbox/spawn-starter.ts';
import type { ContainerProcess } from './container-process.ts';
import type { Isolation } from './probe-host.ts';
import { childrenOf, openNamespace } from './read-process.ts';
import { signalProcess } from './send-signals.ts';

export type SharedNamespaces = {
  /** Makes them for the pod's first container. */
  readonly of: (container: ContainerToRun) => Promise<ContainerProcess['shared']>;
  readonly end: (uid: string) => void;
};

type PodNamespaces = { readonly ipc?: HeldNamespace; readonly processes?: Processes };
type Processes = { readonly pause: ChildProcess; readonly descriptor: number };

export function createSharedNamespaces(isolation: Isolation, log: Log): SharedNamespaces {
  const pods = new Map<string, Promise<PodNamespaces>>();
  return {
    async of(container) {
      if (isolation.kind === 'none') return {};
      const { uid } = container.pod;
      const made = pods.get(uid) ?? make(container, isolation, log);
      pods.set(uid, made);
      made.catch(() => pods.delete(uid));
      const { ipc, processes } = await made;
      return {
        ...(ipc === undefined ? {} : { ipc: ipc.descriptor }),
        ...(processes === undefined ? {} : { pid: processes.descriptor }),
      };
    },
    end(uid) {
      const made = pods.get(uid);
      pods.delete(uid);
      void made?.then(
        ({ ipc, processes }) => {
          ipc?.release();
          if (processes === undefined) return;
          signalProcess(processes.pause, 'SIGKILL');
          closeSync(processes.descriptor);
        },
        () => undefined,
      );
    },
  };
}

async function make(
  { security, pod }: ContainerToRun,
  isolation: Extract<Isolation, { kind: 'namespaces' }>,
  log: Log,
): Promise<PodNamespaces> {
  const ipc = security.hasHostIPC ? undefined : makeMessages(isolation, pod.name, log);
  if (!security.sharesPID || security.hasHostPID) return ipc === undefined ? {} : { ipc };
  if (isolation.agent !== undefined) {
    throw new ContainerStartError(
      'CreateContainerError',
      'shareProcessNamespace is not possible on a node whose agent runs as an ordinary user',
    );
  }
  const processes = await startPause();
  return { ...(ipc === undefined ? {} : { ipc }), processes };
}

/** An ordinary user cannot make one without more; each container then has one of its own. */
function makeMessages(
  { agent }: Extract<Isolation, { kind: 'namespaces' }>,
  pod: string,
  log: Log,
): HeldNamespace | undefined {
  if (agent !== undefined) return undefined;
  try {
    return createNamespace('ipc');
  } catch (error) {
    if (!(error instanceof SystemCallError)) throw error;
    log.warn('containers of the pod have no messages in common', { pod, why: error.message });
    return undefined;
  }
}

/** The first of the pod's processes, which takes in what others leave, and with which all end. */
async function startPause(): Promise<Processes> {
  const steps = pauseSteps(architectureOf(process.arch) ?? 'x64');
  const { child, problem } = spawnStarter(steps, ['ignore', 'ignore', 'ignore']);
  const told = await problem;
  const [first] = childrenOf(child.pid ?? 0);
  const descriptor = first === undefined ? undefined : openNamespace(first, 'pid');
  if (told === undefined && descriptor !== undefined) return { pause: child, descriptor };
  child.kill('SIGKILL');
  const why = told === undefined ? 'its first process ended' : `cannot ${told.what}: ${told.code}`;
  throw new ContainerStartError('CreateContainerError', `cannot share processes: ${why}`);
}
