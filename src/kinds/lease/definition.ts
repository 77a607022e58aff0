import { type FieldError, invalid } from '../../meta/field-error.ts';
import { nameIsDnsSubdomain } from '../../meta/names.ts';
import type { KindDefinition } from '../definition.ts';
import { ageColumn, nameColumn } from '../metadata-columns.ts';
import { type Lease, leaseSchema } from './types.ts';

export const leaseDefinition: KindDefinition<Lease> = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  singular: 'lease',
  namespaced: true,
  schema: leaseSchema,
  nameRule: nameIsDnsSubdomain,
  create: { prepareCreate: dropCoordination, validateCreate: validateLease },
  update: {
    prepareUpdate: (_before, after) => dropCoordination(after),
    validateUpdate: (_before, after) => validateLease(after),
  },
  createsOnUpdate: true,
  needsResourceVersion: true,
  columns: [
    nameColumn,
    {
      name: 'Holder',
      type: 'string',
      description:
        'holderIdentity contains the identity of the holder of a current lease. If Coordinated Leader Election is used, the holder identity must be equal to the elected LeaseCandidate.metadata.name field.',
      cell: ({ spec }) => spec.holderIdentity ?? '',
    },
    ageColumn,
  ],
  fieldSelectorError: 'known',
};

/** The feature gate of coordinated leader election is off by default, which drops its fields. */
function dropCoordination(lease: Lease): Lease {
  const { strategy: _strategy, preferredHolder: _preferredHolder, ...spec } = lease.spec;
  return { ...lease, spec };
}

function validateLease({ spec }: Lease): readonly FieldError[] {
  const { leaseDurationSeconds, leaseTransitions } = spec;
  const errors: FieldError[] = [];
  if (leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0) {
    errors.push(
      invalid('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0'),
    );
  }
  if (leaseTransitions !== undefined && leaseTransitions < 0) {
    const detail = 'must be greater than or equal to 0';
    errors.push(invalid('spec.leaseTransitions', leaseTransitions, detail));
  }
  return errors;
}
