// Whether a pod or a claim keeps the limits of its namespace. Upstream: plugin/pkg/admission/limitranger.
import { compareQuantities, quantityValue } from '../../schema/quantity.ts';
import type { PersistentVolumeClaim } from '../persistent-volume-claim/types.ts';
import { totalResources } from '../pod/aggregate-resources.ts';
import type { ResourceList } from '../pod/resources.ts';
import type { Pod } from '../pod/types.ts';
import type { LimitRange, LimitRangeItem } from './types.ts';

type Used = { readonly requests?: ResourceList; readonly limits?: ResourceList };

/** What is wrong, in upstream's words. */
export function podLimitProblems({ spec }: LimitRange, pod: Pod): readonly string[] {
  const { containers, initContainers = [] } = pod.spec;
  return (spec.limits ?? []).flatMap((item) => {
    if (item.type === 'Container')
      return [...(containers ?? []), ...initContainers].flatMap(({ resources }) =>
        problemsOf(item, resources),
      );
    if (item.type !== 'Pod') return [];
    return problemsOf(item, {
      requests: totalResources(pod.spec, 'requests'),
      limits: totalResources(pod.spec, 'limits'),
    });
  });
}

export function claimLimitProblems(
  { spec }: LimitRange,
  { spec: { resources } }: PersistentVolumeClaim,
): readonly string[] {
  const { requests = {} } = resources;
  return (spec.limits ?? []).flatMap((item) => {
    if (item.type !== 'PersistentVolumeClaim') return [];
    return [
      ...each(item.min, (name, min) => belowMin(item.type, name, min, { requests })),
      ...each(item.max, (name, max) => {
        const request = requests[name];
        const rule = `maximum ${name} usage per ${item.type} is ${max}`;
        if (request === undefined) return `${rule}.  No request is specified`;
        return isMore(request, max) ? `${rule}, but request is ${request}` : undefined;
      }),
    ];
  });
}

const problemsOf = (item: LimitRangeItem, used: Used): readonly string[] => [
  ...each(item.min, (name, min) => belowMin(item.type, name, min, used)),
  ...each(item.max, (name, max) => aboveMax(item.type, name, max, used)),
  ...each(item.maxLimitRequestRatio, (name, ratio) => aboveRatio(item.type, name, ratio, used)),
];

type Judge = (name: string, bound: string) => string | undefined;

const each = (bounds: ResourceList = {}, judge: Judge): readonly string[] =>
  Object.keys(bounds)
    .sort()
    .flatMap((name) => judge(name, bounds[name] ?? '0') ?? []);

const isMore = (a: string, b: string): boolean => compareQuantities(a, b) > 0;

function belowMin(type: string, name: string, min: string, used: Used): string | undefined {
  const [request, limit] = [used.requests?.[name], used.limits?.[name]];
  const rule = `minimum ${name} usage per ${type} is ${min}`;
  if (request === undefined) return `${rule}.  No request is specified`;
  if (isMore(min, request)) return `${rule}, but request is ${request}`;
  return limit !== undefined && isMore(min, limit) ? `${rule}, but limit is ${limit}` : undefined;
}

function aboveMax(type: string, name: string, max: string, used: Used): string | undefined {
  const [request, limit] = [used.requests?.[name], used.limits?.[name]];
  const rule = `maximum ${name} usage per ${type} is ${max}`;
  if (limit === undefined) return `${rule}.  No limit is specified`;
  if (isMore(limit, max)) return `${rule}, but limit is ${limit}`;
  return request !== undefined && isMore(request, max)
    ? `${rule}, but request is ${request}`
    : undefined;
}

function aboveRatio(type: string, name: string, max: string, used: Used): string | undefined {
  const request = quantityValue(used.requests?.[name] ?? '0');
  const limit = quantityValue(used.limits?.[name] ?? '0');
  const rule = `${name} max limit to request ratio per ${type} is ${max}`;
  if (request === 0) return `${rule}, but no request is specified or request is 0`;
  if (limit === 0) return `${rule}, but no limit is specified or limit is 0`;
  const ratio = limit / request;
  return ratio > quantityValue(max)
    ? `${rule}, but provided ratio is ${ratio.toFixed(6)}`
    : undefined;
}
