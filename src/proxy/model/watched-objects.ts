// Which objects the proxy reads at all: the API server filters by these selectors (KPX-01).
import type { EndpointSlice } from '../../kinds/endpoint-slice/types.ts';
import { headlessLabel, serviceProxyNameLabel } from '../../meta/well-known-labels.ts';

export const serviceSelectors = {
  labelSelector: `!${serviceProxyNameLabel}`,
  fieldSelector: 'spec.clusterIP!=None',
};

export const sliceSelector = { labelSelector: `!${headlessLabel}` };

/** What `sliceSelector` selects. */
export function isWatchedSlice({ metadata }: EndpointSlice): boolean {
  return metadata.labels?.[headlessLabel] === undefined;
}
