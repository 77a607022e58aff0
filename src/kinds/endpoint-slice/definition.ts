import { nameIsDnsSubdomain } from '../../meta/names.ts';
import { warningsForIP } from '../../meta/validate-ip.ts';
import { sliceManagedByLabel } from '../../meta/well-known-labels.ts';
import type { KindDefinition } from '../definition.ts';
import { endpointSliceColumns } from './columns.ts';
import { defaultSlice, prepareSlice, sliceGenerationChanges } from './prepare.ts';
import { type EndpointSlice, endpointSliceSchema, mirrorManager, sliceManager } from './types.ts';
import { validateSliceCreate, validateSliceUpdate } from './validate.ts';

export const endpointSliceDefinition: KindDefinition<EndpointSlice> = {
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  singular: 'endpointslice',
  namespaced: true,
  schema: endpointSliceSchema,
  nameRule: nameIsDnsSubdomain,
  defaults: defaultSlice,
  create: {
    prepareCreate: prepareSlice,
    validateCreate: validateSliceCreate,
    warnOnCreate: (slice) => [...typeWarnings(slice), ...addressWarnings(slice)],
  },
  update: {
    prepareUpdate: (_before, after) => prepareSlice(after),
    validateUpdate: validateSliceUpdate,
    warnOnUpdate: (_before, after) => addressWarnings(after),
  },
  generationChanges: sliceGenerationChanges,
  columns: endpointSliceColumns,
  fieldSelectorError: 'known',
};

function typeWarnings({ addressType }: EndpointSlice): readonly string[] {
  // Slices have no spec; the path is Kubernetes' own.
  return addressType === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : [];
}

/** Controllers write canonical addresses; checking thousands of them again would be wasted. */
const trustedManagers: readonly string[] = [sliceManager, mirrorManager];

function addressWarnings({ metadata, endpoints }: EndpointSlice): readonly string[] {
  if (trustedManagers.includes(metadata.labels?.[sliceManagedByLabel] ?? '')) return [];
  return (endpoints ?? []).flatMap(({ addresses }, i) =>
    (addresses ?? []).flatMap((address, j) =>
      warningsForIP(`endpoints[${i}].addresses[${j}]`, address),
    ),
  );
}
