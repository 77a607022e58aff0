// Starts a container in the PID namespace of another one (targetContainerName).
import { closeSync } from 'node:fs';
import { ContainerStartError, type ContainerToRun } from '../runtime.ts';
import type { ContainerProcess } from './container-process.ts';
import type { Isolation } from './probe-host.ts';
import { childrenOf, openNamespace } from './read-process.ts';

/** `spawn` gets the descriptor of the namespace, which is closed after it resolves. */
export async function spawnBesideTarget<Result>(
  { processesOf }: ContainerToRun,
  isolation: Isolation,
  spawn: (shared: Pick<ContainerProcess['shared'], 'pid'>) => Promise<Result>,
): Promise<Result> {
  // Without namespaces all processes are visible anyway.
  if (processesOf === undefined || isolation.kind === 'none') return spawn({});
  if (isolation.agent !== undefined) {
    throw new ContainerStartError(
      'CreateContainerError',
      'targetContainerName is not supported on a node whose agent does not run as root',
    );
  }
  const [first] = childrenOf(processesOf);
  const pid = first === undefined ? undefined : openNamespace(first, 'pid');
  // The process id may be reused: it must still be a child of the process outside.
  if (pid === undefined || childrenOf(processesOf)[0] !== first) {
    if (pid !== undefined) closeSync(pid);
    throw new ContainerStartError('CreateContainerError', 'the target container is not running');
  }
  try {
    return await spawn({ pid });
  } finally {
    closeSync(pid);
  }
}
