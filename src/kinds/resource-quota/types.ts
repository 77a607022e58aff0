import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { must } from '../pod/references.ts';
import { resourceList } from '../pod/resources.ts';

const scopeRequirement = s.struct(
  'ScopedResourceSelectorRequirement',
  {
    scopeName: must(s.string('Name of the scope.')),
    operator: must(s.string('In, NotIn, Exists or DoesNotExist.')),
    values: s.list(s.string(), 'Values to compare with.', { listType: 'atomic' }),
  },
  { numbers: [1, 2, 3] },
);
export type ScopeRequirement = s.Static<typeof scopeRequirement>;

const scopeSelector = s.struct(
  'ScopeSelector',
  {
    matchExpressions: s.list(scopeRequirement, 'All of them must hold.', { listType: 'atomic' }),
  },
  { mapType: 'atomic', numbers: [1] },
);

const spec = s.struct(
  'ResourceQuotaSpec',
  {
    hard: s.described(resourceList, 'The limits, by resource.'),
    scopes: s.list(s.string(), 'Only objects of all these scopes count.', { listType: 'atomic' }),
    scopeSelector: s.pointer(scopeSelector, 'Only objects of these scopes count.'),
  },
  { numbers: [1, 2, 3] },
);
export type ResourceQuotaSpec = s.Static<typeof spec>;

const status = s.struct(
  'ResourceQuotaStatus',
  {
    hard: s.described(resourceList, 'The limits that are enforced.'),
    used: s.described(resourceList, 'How much is in use, by resource.'),
  },
  { numbers: [1, 2] },
);

export const resourceQuotaSchema = s.struct(
  'ResourceQuota',
  {
    ...objectFields,
    spec: s.described(spec, 'The wanted limits.'),
    status: s.described(status, 'The limits that are enforced, and their use.'),
  },
  { description: 'Limits what a namespace may use in total.', numbers: [0, 0, 1, 2, 3] },
);

export type ResourceQuota = KubeObject & {
  readonly spec: ResourceQuotaSpec;
  readonly status: s.Static<typeof status>;
};
