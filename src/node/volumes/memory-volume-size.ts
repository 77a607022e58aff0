// How large a file system in memory may become that says nothing of it: what is written there is memory that somebody has to have.
import { quantitiesOf } from '../../kinds/pod/requests.ts';
import type { ResourceList } from '../../kinds/pod/resources.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { quantityValue } from '../../schema/quantity.ts';

/**
 * As kubelet (pkg/volume/emptydir, calculateEmptyDirMemorySize): the least of what the volume says, what the containers of the pod
 * may use together where each of them has a limit, and what the node has.
 */
export function memoryVolumeBytes(
  sizeLimit: string | undefined,
  { spec }: Pick<Pod, 'spec'>,
  allocatable: ResourceList,
): number {
  const own = sizeLimit === undefined ? 0 : quantityValue(sizeLimit);
  const ofNode = quantityValue(allocatable?.memory ?? '0');
  const bounds = [own, podMemoryLimit(spec), ofNode].filter((bytes) => bytes > 0);
  return bounds.length === 0 ? 0 : Math.floor(Math.min(...bounds));
}

/** 0: there is none, because a container may use what it wants. */
function podMemoryLimit({ containers, resources }: Pod['spec']): number {
  const whole = memoryOf(resources?.limits);
  if (whole > 0) return whole;
  const limits = (containers ?? []).map((container) => memoryOf(container.resources?.limits));
  return limits.some((bytes) => bytes === 0) ? 0 : limits.reduce((a, b) => a + b, 0);
}

const memoryOf = (list: ResourceList | undefined): number =>
  (quantitiesOf(list).get('memory') ?? 0) / 1000;
