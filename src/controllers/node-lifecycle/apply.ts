// Writes conditions and taints of a node, and the readiness of its pods.
import type { ResourceClient } from '../../client/rest.ts';
import type { Node, NodeCondition, Taint } from '../../kinds/node/types.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { isConflict, isNotFound } from '../../meta/api-error.ts';
import { notReady } from './desired.ts';

/** The resource version makes the write fail when the kubelet has reported meanwhile. */
export async function writeConditions(
  nodes: ResourceClient<Node>,
  { metadata }: Node,
  conditions: readonly NodeCondition[],
): Promise<void> {
  const { name = '', resourceVersion } = metadata;
  const patch = { metadata: { resourceVersion }, status: { conditions } };
  await ignoreGone(nodes.patch({ name }, patch, { type: 'merge', subresource: 'status' }));
}

export async function writeTaints(
  nodes: ResourceClient<Node>,
  { metadata }: Node,
  taints: readonly Taint[],
): Promise<void> {
  const { name = '', resourceVersion } = metadata;
  const patch = {
    metadata: { resourceVersion },
    spec: { taints: taints.length === 0 ? null : taints },
  };
  await ignoreGone(nodes.patch({ name }, patch, { type: 'merge' }));
}

/** Sets the condition Ready of the pods to False; pods that have changed meanwhile are skipped. */
export async function markNotReady(
  client: ResourceClient<Pod>,
  pods: readonly Pod[],
  now: number,
): Promise<void> {
  for (const pod of pods) {
    const condition = notReady(pod, now);
    if (condition === undefined) continue;
    const { name = '', namespace = '', uid } = pod.metadata;
    const patch = { metadata: { uid }, status: { conditions: [condition] } };
    await ignoreGone(
      client.patch({ namespace, name }, patch, { type: 'strategic', subresource: 'status' }),
      isConflict,
    );
  }
}

async function ignoreGone(
  write: Promise<unknown>,
  orElse: (error: unknown) => boolean = () => false,
): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isNotFound(error) && !orElse(error)) throw error;
  }
}
