// Whether the slices of a Service say what its pods are. A propagation is complete only then: before, what parts have in effect is about to be
// replaced. The code of the controller says what the slices should be.
import { desiredEndpoints, serviceFamilies } from '../controllers/endpoint-slice/desired.ts';
import { type Endpoint, type EndpointSlice, sliceManager } from '../kinds/endpoint-slice/types.ts';
import type { Node } from '../kinds/node/types.ts';
import type { Pod } from '../kinds/pod/types.ts';
import { hasSelectedPods } from '../kinds/service/backends.ts';
import type { Service } from '../kinds/service/types.ts';
import { sliceManagedByLabel } from '../meta/well-known-labels.ts';

export type ServiceObjects = {
  readonly service: Service;
  /** Those that the Service selects. */
  readonly pods: readonly Pod[];
  readonly slices: readonly EndpointSlice[];
};

export function hasStaleSlices({ service, pods, slices }: ServiceObjects): boolean {
  // Others write the slices.
  if (!hasSelectedPods(service)) return false;
  const own = slices.filter(
    ({ metadata }) => metadata.labels?.[sliceManagedByLabel] === sliceManager,
  );
  const written = textOf(own.flatMap(({ endpoints }) => endpoints ?? []));
  const wanted = serviceFamilies(service).flatMap((family) => {
    const { groups } = desiredEndpoints({ service, pods, family, node: () => anyNode });
    return [...groups.values()].flatMap(({ endpoints }) => [...endpoints.values()]);
  });
  return written !== textOf(wanted);
}

/** What nodes add to endpoints, such as zones, is not compared. */
const anyNode = { metadata: {} } as Node;

function textOf(endpoints: readonly Endpoint[]): string {
  const texts = endpoints.map(({ addresses, conditions, targetRef }) =>
    JSON.stringify([
      ...[addresses, targetRef?.uid, conditions?.ready, conditions?.serving],
      conditions?.terminating,
    ]),
  );
  return texts.sort().join('\n');
}
