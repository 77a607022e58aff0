// The size limit of a memory-backed emptyDir.
import { quantitiesOf } from '../../kinds/pod/requests.ts';
import type { ResourceList } from '../../kinds/pod/resources.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { quantityValue } from '../../schema/quantity.ts';

/**
 * As in the kubelet (pkg/volume/emptydir, calculateEmptyDirMemorySize): the minimum of the volume's sizeLimit, the memory limits of all
 * containers if each has one, and the node's allocatable memory.
 */
export function memoryVolumeBytes(
  sizeLimit: string | undefined,
  { spec }: Pick<Pod, 'spec'>,
  allocatable: ResourceList,
): number {
  const own = sizeLimit === undefined ? 0 : quantityValue(sizeLimit);
  const nodeBytes = quantityValue(allocatable?.memory ?? '0');
  const bounds = [own, podMemoryLimit(spec), nodeBytes].filter((bytes) => bytes > 0);
  return bounds.length === 0 ? 0 : Math.floor(Math.min(...bounds));
}

/** 0: at least one container has no limit. */
function podMemoryLimit({ containers, resources }: Pod['spec']): number {
  const whole = memoryOf(resources?.limits);
  if (whole > 0) return whole;
  const limits = (containers ?? []).map((container) => memoryOf(container.resources?.limits));
  return limits.some((bytes) => bytes === 0) ? 0 : limits.reduce((a, b) => a + b, 0);
}

const memoryOf = (list: ResourceList | undefined): number =>
  (quantitiesOf(list).get('memory') ?? 0) / 1000;
