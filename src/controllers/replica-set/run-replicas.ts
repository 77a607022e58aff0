// Keeps the number of pods for one kind of owner: syncs each owner when it or one of its pods changes.
import { applyClaims } from '../../client/apply-claims.ts';
import { createEventRecorder, type EventRecorder } from '../../client/event-recorder.ts';
import {
  createExpectations,
  type Expectations,
  type WriteRecorder,
} from '../../client/expectations.ts';
import type { Informer } from '../../client/informer.ts';
import { type ReconcileResult, startReconciler } from '../../client/reconcile.ts';
import type { ResourceType } from '../../client/resource.ts';
import { type ResourceClient, resourceClient } from '../../client/rest.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import { isActive, isTerminating } from '../../kinds/pod/activity.ts';
import { podDefinition } from '../../kinds/pod/definition.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { may, mayOwn, mayRecordEvents, mayWatch } from '../../kinds/rbac/rights.ts';
import { isNotFound } from '../../meta/api-error.ts';
import { claimObjects } from '../../meta/claim.ts';
import { matchesSelector, type Selector } from '../../meta/labels.ts';
import { groupVersion, objectKey } from '../../meta/object.ts';
import { controllerOf } from '../../meta/owner.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { Controller, ControllerParts } from '../controller.ts';
import type { ControllerSettings } from '../settings.ts';
import { applyReplicas } from './apply.ts';
import { planReplicas } from './desired.ts';
import type { ReplicaOwner } from './replica-owner.ts';
import { type ManagedPods, managedPods } from './run-managed-pods.ts';
import { desiredStatus, nextAvailableMs, type ReplicaFailure } from './status.ts';

export type OwnerKind<T extends ReplicaOwner> = {
  readonly type: ResourceType<T>;
  readonly names: Pick<Controller, 'name' | 'shortName' | 'account'>;
  /** Name of the work queue. */
  readonly queue: string;
  readonly concurrencyOf: (settings: ControllerSettings) => number;
  /** Source of events. */
  readonly component: string;
  readonly selectorOf: (owner: T) => Selector;
  /** Whether the status has terminatingReplicas. */
  readonly countsTerminating: boolean;
};

/** A sync reads all pods of the owner, so changes of a burst are batched. */
const podBatchMs = 20;

type Parts<T extends ReplicaOwner> = ControllerParts & {
  readonly kind: OwnerKind<T>;
  readonly client: ResourceClient<T>;
  readonly owners: Informer<T>;
  readonly pods: Informer<Pod>;
  readonly managed: ManagedPods;
  readonly recorder: EventRecorder;
};

export function replicaController<T extends ReplicaOwner>(kind: OwnerKind<T>): Controller {
  return {
    ...kind.names,
    watches: mayWatch(kind.type, podDefinition),
    rights: [
      may('get', kind.type),
      may('update', kind.type, { subresource: 'status' }),
      mayOwn(kind.type),
      may('create delete patch', podDefinition),
      mayRecordEvents,
    ],
    async run(parts, signal) {
      const gathered = createParts(parts, kind);
      const { owners, pods, clock, log, queueMetrics: metrics } = gathered;
      const concurrency = kind.concurrencyOf(parts.settings);
      if (!(await waitForSync([owners, pods], signal))) return;
      const writes = createExpectations<Pod>({
        clock,
        keyOf: (pod) => keyOfOwner(kind, pod),
        changedExternally: (key) => queue.addAfter(key, podBatchMs),
      });
      const reconcile = (key: string): Promise<ReconcileResult | undefined> =>
        writes.during(key, (writeRecorder) => sync({ ...gathered, writes, writeRecorder }, key));
      const { queue, ended } = startReconciler(
        { name: kind.queue, reconcile, clock, log, metrics, concurrency },
        signal,
      );
      const add = (owner: T): void => queue.add(objectKey(owner.metadata));
      const addThoseThatSelect = (pod: Pod): void => {
        for (const key of selecting(gathered, pod)) queue.add(key);
      };
      const stops = [
        owners.onChange({ add, update: (_before, after) => add(after), delete: add }),
        pods.onChange(writes.handler),
        pods.onChange({
          add: addThoseThatSelect,
          update: (before, after) => {
            if (isReleased(before, after)) addThoseThatSelect(after);
          },
        }),
      ];
      await ended;
      for (const stop of stops) stop();
    },
  };
}

function createParts<T extends ReplicaOwner>(parts: ControllerParts, kind: OwnerKind<T>): Parts<T> {
  const { caller, informers, clock, log } = parts;
  const { component } = kind;
  const owners = informers.of(kind.type);
  const pods = informers.of(podDefinition);
  return {
    ...parts,
    kind,
    client: resourceClient(caller, kind.type),
    owners,
    pods,
    managed: managedPods(owners, pods),
    recorder: createEventRecorder({ caller, component, clock, log }),
  };
}

function keyOfOwner<T extends ReplicaOwner>({ type }: OwnerKind<T>, pod: Pod): string | undefined {
  const controller = controllerOf(pod);
  if (controller?.kind !== type.kind) return undefined;
  if (controller.apiVersion !== groupVersion(type.group, type.version)) return undefined;
  return objectKey({ namespace: pod.metadata.namespace ?? '', name: controller.name });
}

/** The owners whose selector matches a pod without a controller. */
function selecting<T extends ReplicaOwner>(
  { owners, managed, kind }: Parts<T>,
  pod: Pod,
): readonly string[] {
  if (controllerOf(pod) !== undefined) return [];
  return managed.ownersIn(pod.metadata.namespace ?? '').filter((key) => {
    const owner = owners.store.get(key);
    return owner !== undefined && matchesSelector(kind.selectorOf(owner), pod.metadata.labels);
  });
}

function isReleased(before: Pod, after: Pod): boolean {
  return (
    controllerOf(before)?.uid !== controllerOf(after)?.uid ||
    !deepEqual(before.metadata.labels, after.metadata.labels)
  );
}

type SyncParts<T extends ReplicaOwner> = Parts<T> & {
  readonly writes: Expectations<Pod>;
  readonly writeRecorder: WriteRecorder<Pod>;
};

async function sync<T extends ReplicaOwner>(
  parts: SyncParts<T>,
  key: string,
): Promise<ReconcileResult | undefined> {
  const { owners, kind, caller, recorder, writeRecorder, clock } = parts;
  const owner = owners.store.get(key);
  if (owner === undefined) {
    parts.writes.forget(key);
    return undefined;
  }
  const selector = kind.selectorOf(owner);
  const pods = await claimPods(parts, owner, selector);
  const now = clock.now();
  const plan = planReplicas({ owner, pods, related: parts.managed.related(owner), now });
  const failure = await applyReplicas({ caller, owner, recorder, writeRecorder }, plan);
  const owned = parts.writes
    .over(key, parts.managed.of(owner))
    .filter((pod) => claimObjects(owner, selector, [pod]).owned.length > 0);
  await writeStatus(parts, owner, owned, failure);
  if (failure !== undefined) throw new Error(failure.message);
  const wait = nextAvailableMs(owner, owned.filter(isActive), now);
  return wait === undefined ? undefined : { retryAfterMs: wait };
}

/** The active pods of the owner, after adoptions and releases. */
async function claimPods<T extends ReplicaOwner>(
  { writes, managed, client, caller, writeRecorder }: SyncParts<T>,
  owner: T,
  selector: Selector,
): Promise<readonly Pod[]> {
  const { name = '', namespace = '' } = owner.metadata;
  const candidates = [...managed.of(owner), ...managed.orphansIn(namespace)];
  const active = writes.over(objectKey(owner.metadata), candidates).filter(isActive);
  return applyClaims(claimObjects(owner, selector, active), {
    client: resourceClient(caller, podDefinition),
    owner,
    readOwner: () => client.get({ namespace, name }),
    wrote: writeRecorder.wrote,
  });
}

async function writeStatus<T extends ReplicaOwner>(
  { client, kind, clock }: SyncParts<T>,
  owner: T,
  owned: readonly Pod[],
  failure: ReplicaFailure | undefined,
): Promise<void> {
  const status = desiredStatus({
    owner,
    pods: owned.filter(isActive),
    ...(kind.countsTerminating ? { terminating: owned.filter(isTerminating) } : {}),
    ...(failure === undefined ? {} : { failure }),
    now: clock.now(),
  });
  if (status === owner.status) return;
  try {
    await client.update({ ...owner, status }, { subresource: 'status' });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
