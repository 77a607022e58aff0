// Quotas are kept in the transaction that writes the object: what it uses is added or given back together with it, so
// that concurrent writes never use more than a quota allows. Upstream charges before the write, and a controller gives
// back later.
import type { AnyKind } from '../../kinds/definition.ts';
import type { ResourceList } from '../../kinds/pod/resources.ts';
import { resourceQuotaDefinition } from '../../kinds/resource-quota/definition.ts';
import {
  addLists,
  listText,
  onlyNames,
  subtractLists,
  withoutZeros,
} from '../../kinds/resource-quota/quantities.ts';
import type { ResourceQuota } from '../../kinds/resource-quota/types.ts';
import { type Evaluator, evaluatorOf, isCounted } from '../../kinds/resource-quota/usage.ts';
import { groupResource, type KubeObject } from '../../meta/object.ts';
import { compareQuantities } from '../../schema/quantity.ts';
import type { NamespaceIndex } from '../cache/follow-namespaces.ts';
import type { Cached } from '../cache/resource-cache.ts';
import { createCodec } from '../cache/stored-object.ts';
import { nothingReserved } from '../objects/commit.ts';
import type { Reservation } from '../objects/reservation.ts';

export type QuotaChange = {
  readonly definition: AnyKind;
  readonly namespace: string;
  readonly before?: KubeObject | undefined;
  readonly after?: KubeObject | undefined;
  readonly subresource: string;
};

export type Quotas = {
  /** Whether a quota of the namespace names something that objects of the kind use. */
  readonly concern: (namespace: string, definition: AnyKind) => boolean;
  /** Why the quotas do not allow the change; undefined: they do. */
  readonly refusal: (change: QuotaChange) => string | undefined;
  /** What must be written with the object. */
  readonly charge: (change: QuotaChange, key: string) => Reservation;
};

const codec = createCodec(resourceQuotaDefinition);

export function createQuotas(quotasOf: NamespaceIndex): Quotas {
  return {
    concern(namespace, definition) {
      const quotas = quotasOf(namespace);
      if (quotas.length === 0) return false;
      const evaluator = evaluatorOf(groupResource(definition.group, definition.plural));
      return evaluator !== undefined && quotas.some((one) => namesIn(one, evaluator).length > 0);
    },
    refusal(change) {
      const quotas = quotasOf(change.namespace);
      return quotas.length === 0 ? undefined : refusal(quotas, change);
    },
    charge(change, key) {
      const quotas = quotasOf(change.namespace);
      return quotas.length === 0 ? nothingReserved : charge(quotas, change, key);
    },
  };
}

const quotaOf = ({ object }: Cached): ResourceQuota => object as ResourceQuota;

const evaluatorFor = ({ definition }: QuotaChange): Evaluator | undefined =>
  evaluatorOf(groupResource(definition.group, definition.plural));

/** What the quota limits, or will limit when the controller has seen it. */
function namesIn(cached: Cached, { knows }: Evaluator): readonly string[] {
  const { spec, status } = quotaOf(cached);
  return Object.keys({ ...spec.hard, ...status.hard }).filter(knows);
}

/** Upstream's order: first whether the object can be counted, by each quota, then whether there is room. */
function refusal(quotas: readonly Cached[], change: QuotaChange): string | undefined {
  const { before, after, subresource } = change;
  const evaluator = evaluatorFor(change);
  if (after === undefined || evaluator === undefined) return undefined;
  if (!evaluator.limits(before === undefined ? 'create' : 'update', subresource)) return undefined;
  const interested = quotas.map(quotaOf).flatMap((quota) => {
    const limited = Object.keys(quota.status.hard ?? {}).filter(evaluator.knows);
    return isCounted({ limited, quota }, evaluator, after) ? [{ quota, limited }] : [];
  });
  if (interested.length === 0) return undefined;
  for (const one of interested) {
    const why = uncountable(one, evaluator, after);
    if (why !== undefined) return why;
  }
  const usage = evaluator.usage(after);
  const negative = Object.keys(usage).filter(
    (name) => compareQuantities(usage[name] ?? '0', '0') < 0,
  );
  if (negative.length > 0)
    return `quota usage is negative for resource(s): ${negative.sort().join(',')}`;
  const delta = before === undefined ? usage : subtractLists(usage, evaluator.usage(before));
  for (const { quota, limited } of interested) {
    const why = excess(quota, onlyNames(withoutZeros(positive(delta)), limited));
    if (why !== undefined) return why;
  }
  return undefined;
}

type Interested = { readonly quota: ResourceQuota; readonly limited: readonly string[] };

function uncountable(
  { quota, limited }: Interested,
  { problem }: Evaluator,
  object: KubeObject,
): string | undefined {
  const name = quota.metadata.name ?? '';
  const why = problem?.(limited, object);
  if (why !== undefined) return `failed quota: ${name}: ${why}`;
  const isKnown = limited.every((resource) => quota.status.used?.[resource] !== undefined);
  return isKnown
    ? undefined
    : `status unknown for quota: ${name}, resources: ${[...limited].sort().join(',')}`;
}

const positive = (list: ResourceList): ResourceList =>
  Object.fromEntries(
    Object.entries(list).filter(([, quantity]) => compareQuantities(quantity, '0') > 0),
  );

function excess({ metadata, status }: ResourceQuota, requested: ResourceList): string | undefined {
  const { hard = {}, used = {} } = status;
  const sum = addLists(onlyNames(used, Object.keys(requested)), requested);
  const exceeded = Object.keys(requested).filter(
    (name) => compareQuantities(sum[name] ?? '0', hard[name] ?? '0') > 0,
  );
  if (exceeded.length === 0) return undefined;
  const shown = (list: ResourceList): string => listText(onlyNames(list, exceeded));
  return `exceeded quota: ${metadata.name ?? ''}, requested: ${shown(requested)}, used: ${shown(used)}, limited: ${shown(hard)}`;
}

function charge(quotas: readonly Cached[], change: QuotaChange, key: string): Reservation {
  const evaluator = evaluatorFor(change);
  if (evaluator === undefined) return nothingReserved;
  const charged = quotas.flatMap((cached) => {
    // A quota is not counted by itself: its own write is this one.
    if (cached.key === key) return [];
    const quota = chargedQuota(cached, evaluator, change);
    return quota === undefined ? [] : [{ cached, quota }];
  });
  return {
    compare: charged.map(({ cached }) => ({ key: cached.key, revision: cached.revision })),
    write: charged.map(({ cached, quota }) => codec.put(cached.key, quota)),
  };
}

/** The quota with what the change uses and gives back; undefined where that is nothing. */
function chargedQuota(
  cached: Cached,
  evaluator: Evaluator,
  { before, after }: QuotaChange,
): ResourceQuota | undefined {
  const quota = quotaOf(cached);
  const limited = namesIn(cached, evaluator);
  const usageOf = (object: KubeObject | undefined): ResourceList =>
    object !== undefined && isCounted({ limited, quota }, evaluator, object)
      ? evaluator.usage(object)
      : {};
  const delta = withoutZeros(onlyNames(subtractLists(usageOf(after), usageOf(before)), limited));
  const names = Object.keys(delta);
  if (names.length === 0) return undefined;
  const { used = {} } = quota.status;
  const known = names.filter((name) => used[name] !== undefined);
  // What is not counted yet is written nevertheless: the controller that counts meanwhile must begin again.
  if (known.length === 0) return quota;
  const sum = addLists(used, onlyNames(delta, known));
  const atLeastZero = Object.entries(sum).map(
    ([name, quantity]) => [name, compareQuantities(quantity, '0') < 0 ? '0' : quantity] as const,
  );
  return { ...quota, status: { ...quota.status, used: Object.fromEntries(atLeastZero) } };
}
