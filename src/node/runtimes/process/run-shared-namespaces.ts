// Namespaces that containers of a pod share: IPC and, with shareProcessNamespace, PID.
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
  /** Creates them for the first container of the pod. */
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
      const namespaces = pods.get(uid) ?? createNamespaces(container, isolation, log);
      pods.set(uid, namespaces);
      namespaces.catch(() => pods.delete(uid));
      const { ipc, processes } = await namespaces;
      return {
        ...(ipc === undefined ? {} : { ipc: ipc.descriptor }),
        ...(processes === undefined ? {} : { pid: processes.descriptor }),
      };
    },
    end(uid) {
      const namespaces = pods.get(uid);
      pods.delete(uid);
      void namespaces?.then(
        ({ ipc, processes }) => {
          ipc?.release();
          if (processes === undefined) return;
          signalProcess(processes.pause, 'SIGKILL');
          closeSync(processes.descriptor);
        },
        // It failed, and there is nothing to release.
        () => undefined,
      );
    },
  };
}

async function createNamespaces(
  { security, pod }: ContainerToRun,
  isolation: Extract<Isolation, { kind: 'namespaces' }>,
  log: Log,
): Promise<PodNamespaces> {
  const ipc = security.hasHostIPC ? undefined : createIpcNamespace(isolation, pod.name, log);
  if (!security.sharesPID || security.hasHostPID) return ipc === undefined ? {} : { ipc };
  if (isolation.agent !== undefined) {
    throw new ContainerStartError(
      'CreateContainerError',
      'shareProcessNamespace is not supported on a node whose agent does not run as root',
    );
  }
  const processes = await startPause();
  return { ...(ipc === undefined ? {} : { ipc }), processes };
}

/** An ordinary user cannot createNamespaces one without more; each container then has one of its own. */
function createIpcNamespace(
  { agent }: Extract<Isolation, { kind: 'namespaces' }>,
  pod: string,
  log: Log,
): HeldNamespace | undefined {
  if (agent !== undefined) return undefined;
  try {
    return createNamespace('ipc');
  } catch (error) {
    if (!(error instanceof SystemCallError)) throw error;
    log.warn('Failed to create IPC namespace, containers of the pod do not share it', {
      pod,
      error: error.message,
    });
    return undefined;
  }
}

/** Starts the pause process: init of the PID namespace, which reaps orphans; the namespace ends with it. */
async function startPause(): Promise<Processes> {
  const steps = pauseSteps(architectureOf(process.arch) ?? 'x64');
  const { child, problem } = spawnStarter(steps, ['ignore', 'ignore', 'ignore']);
  const failure = await problem;
  const [first] = childrenOf(child.pid ?? 0);
  const descriptor = first === undefined ? undefined : openNamespace(first, 'pid');
  if (failure === undefined && descriptor !== undefined) return { pause: child, descriptor };
  child.kill('SIGKILL');
  const why =
    failure === undefined ? 'its first process ended' : `cannot ${failure.what}: ${failure.code}`;
  throw new ContainerStartError('CreateContainerError', `cannot share processes: ${why}`);
}
