// Why a name leads nowhere, where the objects say it.
import { parseAddress } from '../ip/address.ts';
import { isReady } from '../kinds/endpoint-slice/conditions.ts';
import { headlessIP, type Service } from '../kinds/service/types.ts';
import { objectKey } from '../meta/object.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';
import type { Source } from './resolve-source.ts';

type Namespaced = Pick<Source, 'namespace'>;

/** For the end of a sentence; empty: nothing is known of it. */
export function whyMissing(index: SnapshotIndex, name: string, source: Namespaced): string {
  const own = serviceOf(index, name, source);
  if (own !== undefined) return `: ${reasonOf(index, own)}`;
  return namesakes(index, name, source);
}

/** The Service that the name is of: `web`, `web.shop`, `web.shop.svc` and longer forms. */
function serviceOf(
  index: SnapshotIndex,
  name: string,
  { namespace = '' }: Namespaced,
): Service | undefined {
  const [service = '', second = namespace] = name.toLowerCase().replace(/\.$/, '').split('.');
  return index.service(second, service);
}

function reasonOf(index: SnapshotIndex, { metadata, spec }: Service): string {
  const { namespace = '', name = '' } = metadata;
  const key = objectKey(metadata);
  if (spec.type === 'ExternalName') {
    const target = spec.externalName ?? '';
    return parseAddress(target) === undefined
      ? `Service ${key} is an alias of ${target}, which leads to no address`
      : `Service ${key} is an alias of ${target}, which is an address, where a name must be`;
  }
  if (spec.clusterIP === headlessIP) {
    const ready = index
      .slicesOf(namespace, name)
      .flatMap(({ endpoints }) => endpoints ?? [])
      .filter(({ conditions }) => isReady(conditions ?? {}));
    return ready.length === 0
      ? `headless Service ${key} has no ready endpoint, and so no address`
      : `headless Service ${key} has no such name`;
  }
  return `there is Service ${key}, and this is none of its names`;
}

const maxNamesakes = 5;

/** Services of that name in other namespaces. */
function namesakes({ snapshot }: SnapshotIndex, name: string, { namespace }: Namespaced): string {
  const label = (name.split('.')[0] ?? '').toLowerCase();
  const found = snapshot.objects.services
    .filter(({ metadata }) => metadata.name === label)
    .map(({ metadata }) => `${metadata.name}.${metadata.namespace}`);
  if (found.length === 0 || namespace === undefined) return '';
  return ` (there is ${found.slice(0, maxNamesakes).join(', ')})`;
}
