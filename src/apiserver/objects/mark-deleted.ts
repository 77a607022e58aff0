// What a delete does to an object: it is marked where a grace period or finalizers must be waited for, or can be removed.
// Upstream: staging/src/k8s.io/apiserver/pkg/registry/rest/delete.go and generic/registry/store.go; for kinds with finalizers of their own, pkg/registry/core/namespace/storage/storage.go.
import type { AnyKind } from '../../kinds/definition.ts';
import { foregroundFinalizer, orphanFinalizer } from '../../meta/finalizers.ts';
import type { KubeObject, ObjectMeta } from '../../meta/object.ts';
import { formatTime, parseTime } from '../../schema/time.ts';

export type DeleteOptions = {
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: string;
};

export type MarkRequest = {
  readonly resource: { readonly definition: AnyKind };
  readonly options: DeleteOptions;
  /** Milliseconds. */
  readonly now: number;
};

export type Marked = {
  /** The same object when there is nothing to change. */
  readonly marked: KubeObject;
  /** Neither a grace period nor a finalizer blocks the removal. */
  readonly isRemovable: boolean;
};

export function markDeleted(request: MarkRequest, object: KubeObject): Marked {
  const { definition } = request.resource;
  if (definition.holdsDeletion !== undefined) return markHeld(request, object);
  const marked = mark(request, object);
  return { marked, isRemovable: isUnblocked(marked) };
}

/** The first delete only marks a kind with finalizers of its own; later ones wait for those, whatever their options. */
function markHeld(request: MarkRequest, object: KubeObject): Marked {
  const { definition } = request.resource;
  const { metadata } = object;
  if (metadata.deletionTimestamp === undefined) {
    const deleting = withMetadata(object, {
      deletionTimestamp: formatTime(request.now),
      finalizers: finalizersAfter(heldPolicy(request.options), metadata),
    });
    return { marked: definition.markDeleting?.(deleting) ?? deleting, isRemovable: false };
  }
  if (definition.holdsDeletion?.(object)) return { marked: object, isRemovable: false };
  const finalizers = finalizersAfter(policyOf(request.options), metadata);
  if (finalizers.length === 0) return { marked: object, isRemovable: true };
  const isSame = metadata.deletionGracePeriodSeconds === 0 && hasFinalizers(metadata, finalizers);
  if (isSame) return { marked: object, isRemovable: false };
  return {
    marked: withMetadata(object, { deletionGracePeriodSeconds: 0, finalizers }),
    isRemovable: false,
  };
}

function mark(request: MarkRequest, object: KubeObject): KubeObject {
  const { definition } = request.resource;
  const policy = policyOf(request.options) ?? defaultPolicy(definition, object.metadata);
  const finalizers = finalizersAfter(policy, object.metadata);
  const graceful = definition.graceSeconds !== undefined;
  if (object.metadata.deletionTimestamp !== undefined)
    return shortenGracePeriod(request, object, finalizers);
  if (!graceful && finalizers.length === 0) return object;
  const { gracePeriodSeconds } = request.options;
  const grace =
    definition.graceSeconds?.(object, {
      ...(gracePeriodSeconds === undefined
        ? {}
        : { gracePeriodSeconds: atLeastOne(gracePeriodSeconds) }),
    }) ?? 0;
  const marked = withMetadata(object, {
    ...generationAfter(object.metadata),
    deletionTimestamp: formatTime(request.now + grace * 1000),
    deletionGracePeriodSeconds: grace,
    finalizers,
  });
  return definition.markDeleting?.(marked) ?? marked;
}

const generationAfter = ({ generation }: ObjectMeta): { generation?: number } =>
  generation === undefined ? {} : { generation: generation + 1 };

/** A negative period is a second. */
const atLeastOne = (period: number): number => (period < 0 ? 1 : period);

/** A second delete may only shorten the remaining time. One that does not is ignored, with all its options, until the time is over. */
function shortenGracePeriod(
  request: MarkRequest,
  object: KubeObject,
  finalizers: readonly string[],
): KubeObject {
  const { metadata } = object;
  const current = metadata.deletionGracePeriodSeconds ?? 0;
  const period = atLeastOne(request.options.gracePeriodSeconds ?? current);
  if (current > 0 && period >= current) return object;
  if (current === 0 && hasFinalizers(metadata, finalizers)) return object;
  const start = (parseTime(metadata.deletionTimestamp ?? '') ?? request.now) - current * 1000;
  const grace = Math.min(period, current);
  return withMetadata(object, {
    deletionTimestamp: formatTime(start + grace * 1000),
    deletionGracePeriodSeconds: grace,
    finalizers,
  });
}

const hasFinalizers = (metadata: ObjectMeta, finalizers: readonly string[]): boolean =>
  finalizers.join() === (metadata.finalizers ?? []).join();

function withMetadata(object: KubeObject, change: Partial<ObjectMeta>): KubeObject {
  const { finalizers: _old, ...metadata } = object.metadata;
  const { finalizers = [], ...marks } = change;
  return {
    ...object,
    metadata: { ...metadata, ...marks, ...(finalizers.length === 0 ? {} : { finalizers }) },
  };
}

const policyOf = ({ propagationPolicy, orphanDependents }: DeleteOptions): string | undefined =>
  propagationPolicy ??
  (orphanDependents === undefined ? undefined : orphanDependents ? 'Orphan' : 'Background');

/** Finalizers of an earlier delete are stronger than the default. */
function defaultPolicy(
  { orphansByDefault }: AnyKind,
  { finalizers = [] }: ObjectMeta,
): string | undefined {
  const isChosen = finalizers.some((f) => f === orphanFinalizer || f === foregroundFinalizer);
  return orphansByDefault === undefined || isChosen ? undefined : 'Orphan';
}

/** For namespaces `orphanDependents: false` means Foreground. */
const heldPolicy = (options: DeleteOptions): string | undefined =>
  options.orphanDependents === false ? 'Foreground' : policyOf(options);

/** What the policy about dependents does to the two finalizers that the garbage collector serves. */
function finalizersAfter(
  policy: string | undefined,
  { finalizers = [] }: ObjectMeta,
): readonly string[] {
  if (policy === undefined) return finalizers;
  const wanted =
    policy === 'Orphan'
      ? orphanFinalizer
      : policy === 'Foreground'
        ? foregroundFinalizer
        : undefined;
  const others = finalizers.filter(
    (f) => f === wanted || (f !== orphanFinalizer && f !== foregroundFinalizer),
  );
  return wanted === undefined || others.includes(wanted) ? others : [...others, wanted];
}

function isUnblocked({ metadata }: KubeObject): boolean {
  const { finalizers = [], deletionGracePeriodSeconds = 0, deletionTimestamp } = metadata;
  if (finalizers.length > 0) return false;
  return deletionTimestamp === undefined || deletionGracePeriodSeconds === 0;
}
