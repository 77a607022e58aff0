// Limits of a pod's disk usage, with the kubelet's eviction messages (pkg/kubelet/eviction, localStorageEviction).
import { quantitiesOf } from '../../kinds/pod/requests.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { quantityValue } from '../../schema/quantity.ts';

export type StorageLimit = {
  /** Absent: the whole pod. */
  readonly volume?: string;
  readonly bytes: number;
  /** Why the pod is evicted. */
  readonly message: string;
};

/** In the order in which they are checked. Memory volumes are limited by their tmpfs. */
export function storageLimits({ spec }: Pick<Pod, 'spec'>): readonly StorageLimit[] {
  const volumes = (spec.volumes ?? []).flatMap(({ name, emptyDir }): readonly StorageLimit[] => {
    const { sizeLimit, medium = '' } = emptyDir ?? {};
    const bytes = sizeLimit === undefined || medium === 'Memory' ? 0 : quantityValue(sizeLimit);
    if (bytes <= 0) return [];
    const message = `Usage of EmptyDir volume ${JSON.stringify(name)} exceeds the limit ${JSON.stringify(sizeLimit)}. `;
    return [{ volume: name, bytes, message }];
  });
  const limits = (spec.containers ?? []).map(({ resources }) =>
    quantitiesOf(resources?.limits).get(storage),
  );
  const texts = (spec.containers ?? []).map(({ resources }) => resources?.limits?.[storage]);
  const set = limits.filter((quantity) => quantity !== undefined);
  if (set.length === 0) return volumes;
  const bytes = set.reduce((a, b) => a + b, 0) / 1000;
  const text = set.length === 1 ? texts.find((one) => one !== undefined) : String(bytes);
  const message = `Pod ephemeral local storage usage exceeds the total limit of containers ${text}. `;
  return [...volumes, { bytes, message }];
}

const storage = 'ephemeral-storage';
