// Which EndpointSlices say that a pod is terminating. When those of all Services that select it do, the controller has seen the deletion,
// and nothing that it writes later leads to the pod: a proxy that has these slices in effect is done with the pod.
import type { EndpointSlice } from '../../kinds/endpoint-slice/types.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { hasClusterIP, hasSelectedPods, podAddresses } from '../../kinds/service/backends.ts';
import type { IPFamily, Service } from '../../kinds/service/types.ts';
import { matchesSelector, selectorFromMap } from '../../meta/labels.ts';
import { serviceNameLabel } from '../../meta/well-known-labels.ts';

export type TerminatingSlices = {
  /** Whether a Service that proxies forward for selects the pod. */
  readonly isSelected: boolean;
  /** Whether the slices of all of them say that it is terminating. */
  readonly isShown: boolean;
  /** The newest revision of those slices. */
  readonly revision: number;
};

/** The lists are those of the pod's namespace. */
export function terminatingSlices(
  pod: Pod,
  services: readonly Service[],
  slices: readonly EndpointSlice[],
): TerminatingSlices {
  const selecting = services.filter((service) => isSelecting(service, pod));
  const names = new Set(selecting.map(({ metadata }) => metadata.name));
  const related = slices.filter(({ metadata }) => names.has(metadata.labels?.[serviceNameLabel]));
  const isShown = selecting.every((service) =>
    familiesOf(service, pod).every((family) =>
      related.some((slice) => isOf(slice, service, family) && showsTermination(slice, pod)),
    ),
  );
  const revisions = related.map(({ metadata }) => Number(metadata.resourceVersion ?? 0));
  return { isSelected: selecting.length > 0, isShown, revision: Math.max(0, ...revisions) };
}

/** Proxies do nothing for headless Services. */
function isSelecting(service: Service, { metadata }: Pod): boolean {
  const { selector } = service.spec;
  return (
    hasSelectedPods(service) &&
    hasClusterIP(service) &&
    matchesSelector(selectorFromMap(selector), metadata.labels)
  );
}

/** Each family has slices of its own, which are written one after the other. */
function familiesOf({ spec }: Service, pod: Pod): readonly IPFamily[] {
  return (spec.ipFamilies ?? []).filter((family) => podAddresses(pod, family).length > 0);
}

const isOf = (slice: EndpointSlice, { metadata }: Service, family: IPFamily): boolean =>
  slice.addressType === family && slice.metadata.labels?.[serviceNameLabel] === metadata.name;

const showsTermination = ({ endpoints }: EndpointSlice, { metadata }: Pod): boolean =>
  (endpoints ?? []).some(
    ({ targetRef, conditions }) =>
      targetRef?.uid === metadata.uid && conditions.terminating === true,
  );
