// Evicts a pod from a tainted node, with a condition that says why.
import type { ResourceClient } from '../../client/rest.ts';
import { judgedPodCondition, podConditionPatch } from '../../kinds/pod/conditions.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { isConflict, isNotFound } from '../../meta/api-error.ts';
import { formatTime } from '../../schema/time.ts';

const disrupted = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'DeletionByTaintManager',
  message: 'Taint manager: deleting due to NoExecute taint',
};

/** The UID protects a new pod of the same name. */
export async function evictPod(
  client: ResourceClient<Pod>,
  { metadata, status }: Pod,
  now: number,
): Promise<void> {
  const { name = '', namespace = '', uid = '' } = metadata;
  const condition = judgedPodCondition(status.conditions, disrupted, formatTime(now));
  try {
    await client.patch(
      { namespace, name },
      {
        metadata: { uid },
        status: { conditions: [podConditionPatch(status.conditions, condition)] },
      },
      { type: 'strategic', subresource: 'status' },
    );
    await client.delete({ namespace, name }, { preconditions: { uid } });
  } catch (error) {
    // Deleted, or replaced by another pod of the name.
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
