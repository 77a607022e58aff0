// A container that is to see the processes of another one, which runs already: it is started in that one's process namespace.
import { closeSync } from 'node:fs';
import { ContainerStartError, type ContainerToRun } from '../runtime.ts';
import type { ContainerProcess } from './container-process.ts';
import type { Isolation } from './probe-host.ts';
import { childrenOf, openNamespace } from './read-process.ts';

/** `spawn` gets what the container shares with its target, and has done with it when it resolves. */
export async function spawnBesideTarget<Result>(
  { processesOf }: ContainerToRun,
  isolation: Isolation,
  spawn: (shared: Pick<ContainerProcess['shared'], 'pid'>) => Promise<Result>,
): Promise<Result> {
  // Without namespaces everybody sees all processes.
  if (processesOf === undefined || isolation.kind === 'none') return spawn({});
  if (isolation.agent !== undefined) {
    throw new ContainerStartError(
      'CreateContainerError',
      'targetContainerName is not possible on a node whose agent runs as an ordinary user',
    );
  }
  const [first] = childrenOf(processesOf);
  const pid = first === undefined ? undefined : openNamespace(first, 'pid');
  // The number of one that has ended may be another's: the process outside must still have it as its child.
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
