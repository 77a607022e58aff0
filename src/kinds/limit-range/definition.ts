import { nameIsDnsSubdomain } from '../../meta/names.ts';
import type { KindDefinition } from '../definition.ts';
import { createdAtColumn, nameColumn } from '../metadata-columns.ts';
import type { ResourceList } from '../pod/resources.ts';
import { type LimitRange, type LimitRangeItem, limitRangeSchema } from './types.ts';
import { validateLimitRange } from './validate.ts';

export const limitRangeDefinition: KindDefinition<LimitRange> = {
  group: '',
  version: 'v1',
  kind: 'LimitRange',
  plural: 'limitranges',
  singular: 'limitrange',
  shortNames: ['limits'],
  namespaced: true,
  schema: limitRangeSchema,
  nameRule: nameIsDnsSubdomain,
  defaults: defaultLimitRange,
  create: { validateCreate: validateLimitRange },
  update: { validateUpdate: (_before, after) => validateLimitRange(after) },
  columns: [nameColumn, createdAtColumn],
  fieldSelectorError: 'known',
};

function defaultLimitRange(range: LimitRange): LimitRange {
  const { limits } = range.spec;
  return limits === null || limits === undefined
    ? range
    : { ...range, spec: { ...range.spec, limits: limits.map(defaultItem) } };
}

/** Limits of containers follow from the maximum, requests from the limits, and else from the minimum. */
function defaultItem(item: LimitRangeItem): LimitRangeItem {
  if (item.type !== 'Container') return item;
  const limits: ResourceList = { ...item.max, ...item.default };
  const requests: ResourceList = { ...item.min, ...limits, ...item.defaultRequest };
  return {
    ...item,
    ...(Object.keys(limits).length === 0 ? {} : { default: limits }),
    ...(Object.keys(requests).length === 0 ? {} : { defaultRequest: requests }),
  };
}
