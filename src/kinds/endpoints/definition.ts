import { nameIsDnsSubdomain } from '../../meta/names.ts';
import { warningsForIP } from '../../meta/validate-ip.ts';
import { endpointsManagedByLabel } from '../../meta/well-known-labels.ts';
import type { KindDefinition } from '../definition.ts';
import { endpointsColumns } from './columns.ts';
import { defaultEndpoints } from './defaults.ts';
import {
  type EndpointAddress,
  type Endpoints,
  endpointsManager,
  endpointsSchema,
} from './types.ts';
import { validateEndpoints } from './validate.ts';

export const endpointsDefinition: KindDefinition<Endpoints> = {
  group: '',
  version: 'v1',
  kind: 'Endpoints',
  plural: 'endpoints',
  singular: 'endpoints',
  shortNames: ['ep'],
  namespaced: true,
  deprecationWarning: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  schema: endpointsSchema,
  nameRule: nameIsDnsSubdomain,
  defaults: defaultEndpoints,
  create: {
    validateCreate: (endpoints) => validateEndpoints(endpoints),
    warnOnCreate: warnings,
  },
  update: {
    validateUpdate: (before, after) => validateEndpoints(after, before),
    warnOnUpdate: (_before, after) => warnings(after),
  },
  createsOnUpdate: true,
  columns: endpointsColumns,
  fieldSelectorError: 'known',
};

/** The endpoints controller writes canonical addresses, which need no check. */
function warnings({ metadata, subsets = [] }: Endpoints): readonly string[] {
  if (metadata.labels?.[endpointsManagedByLabel] === endpointsManager) return [];
  return subsets.flatMap(({ addresses = [], notReadyAddresses = [] }, i) => [
    ...addressWarnings(addresses, `subsets[${i}].addresses`),
    ...addressWarnings(notReadyAddresses, `subsets[${i}].notReadyAddresses`),
  ]);
}

function addressWarnings(addresses: readonly EndpointAddress[], field: string): readonly string[] {
  return addresses.flatMap(({ ip }, i) => warningsForIP(`${field}[${i}].ip`, ip));
}
