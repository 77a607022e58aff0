// Writes the status of disruption budgets, which evictions obey, when they or their pods change. Upstream: pkg/controller/disruption.
import { createEventRecorder, type EventRecorder } from '../../client/event-recorder.ts';
import type { Informer } from '../../client/informer.ts';
import { type ReconcileResult, startReconciler } from '../../client/reconcile.ts';
import { type ResourceClient, resourceClient } from '../../client/rest.ts';
import { byNamespace, namespaceIndex } from '../../client/shared-indexes.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import { yieldWhenDue } from '../../host/yield-when-due.ts';
import { deploymentDefinition } from '../../kinds/deployment/definition.ts';
import { podDefinition } from '../../kinds/pod/definition.ts';
import { isPodReady } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { podDisruptionBudgetDefinition } from '../../kinds/pod-disruption-budget/definition.ts';
import type {
  PodDisruptionBudget,
  PodDisruptionBudgetStatus,
} from '../../kinds/pod-disruption-budget/types.ts';
import { may, mayRecordEvents, mayWatch } from '../../kinds/rbac/rights.ts';
import { replicaSetDefinition } from '../../kinds/replica-set/definition.ts';
import { replicationControllerDefinition } from '../../kinds/replication-controller/definition.ts';
import { isConflict, isNotFound } from '../../meta/api-error.ts';
import { matchesSelector, selectorFromLabelSelector } from '../../meta/labels.ts';
import { objectKey } from '../../meta/object.ts';
import { controllerOf } from '../../meta/owner.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { Controller, ControllerParts } from '../controller.ts';
import { failedStatus, needsScale, notDeletedMessage, planBudget } from './desired.ts';
import { goSelector } from './go-selector.ts';
import { readScale, type Scale, type ScaleParts } from './read-scale.ts';
import { startStaleTargets } from './run-stale-targets.ts';

/** A sync reads all pods of the namespace, so changes of a burst are batched. */
const podBatchMs = 50;
const component = 'controllermanager';

type Parts = ControllerParts &
  ScaleParts & {
    readonly budgets: Informer<PodDisruptionBudget>;
    readonly pods: Informer<Pod>;
    readonly client: ResourceClient<PodDisruptionBudget>;
    readonly recorder: EventRecorder;
  };

/** Kinds of which this controller reads nothing but the number of replicas. */
const scalable = { group: '*', plural: '*' };

export const disruptionController: Controller = {
  name: 'disruption-controller',
  shortName: 'disruption',
  account: 'disruption-controller',
  watches: mayWatch(
    podDisruptionBudgetDefinition,
    podDefinition,
    deploymentDefinition,
    replicaSetDefinition,
    replicationControllerDefinition,
  ),
  rights: [
    may('update', podDisruptionBudgetDefinition, { subresource: 'status' }),
    may('get', scalable, { subresource: 'scale' }),
    may('patch', podDefinition, { subresource: 'status' }),
    mayRecordEvents,
  ],
  async run(shared, signal) {
    const parts = createParts(shared);
    const { budgets, pods, deployments, sets, replicationControllers } = parts;
    const { clock, log, queueMetrics: metrics } = parts;
    const all = [budgets, pods, deployments, sets, replicationControllers];
    if (!(await waitForSync(all, signal))) return;
    const { queue, ended } = startReconciler(
      { name: 'disruption', reconcile: (key) => sync(parts, key), clock, log, metrics },
      signal,
    );
    const stale = startStaleTargets(parts, signal);
    const stops = [...follow(parts, queue), stale.stop];
    await Promise.all([ended, stale.ended]);
    for (const stop of stops) stop();
  },
};

function createParts(shared: ControllerParts): Parts {
  const { caller, informers, clock, log } = shared;
  const budgets = informers.of(podDisruptionBudgetDefinition);
  const pods = informers.of(podDefinition);
  budgets.addIndex(namespaceIndex, byNamespace);
  pods.addIndex(namespaceIndex, byNamespace);
  return {
    ...shared,
    budgets,
    pods,
    deployments: informers.of(deploymentDefinition),
    sets: informers.of(replicaSetDefinition),
    replicationControllers: informers.of(replicationControllerDefinition),
    client: resourceClient(caller, podDisruptionBudgetDefinition),
    recorder: createEventRecorder({ caller, component, clock, log }),
  };
}

type Queue = {
  readonly add: (key: string) => void;
  readonly addAfter: (key: string, ms: number) => void;
};

function follow(parts: Parts, queue: Queue): readonly (() => void)[] {
  const { budgets, pods } = parts;
  const add = ({ metadata }: PodDisruptionBudget): void => queue.add(objectKey(metadata));
  const addThoseThatSelect = (pod: Pod): void => {
    for (const key of selecting(parts, pod)) queue.addAfter(key, podBatchMs);
  };
  return [
    budgets.onChange({ add, update: (_before, after) => add(after) }),
    pods.onChange({
      add: addThoseThatSelect,
      update(before, after) {
        if (isSameForBudgets(before, after)) return;
        addThoseThatSelect(after);
        if (!deepEqual(before.metadata.labels, after.metadata.labels)) addThoseThatSelect(before);
      },
      delete: addThoseThatSelect,
    }),
    ...followScales(parts, queue),
  ];
}

/** A budget in percent depends on the replicas of the workloads, which change without a pod. */
function followScales(
  { budgets, deployments, sets, replicationControllers }: Parts,
  queue: Queue,
): readonly (() => void)[] {
  type Scaled = PodDisruptionBudget['metadata'];
  const replicasChanged = (metadata: Scaled): void => {
    for (const budget of budgets.store.select(namespaceIndex, metadata.namespace ?? '')) {
      if (needsScale(budget)) queue.addAfter(objectKey(budget.metadata), podBatchMs);
    }
  };
  type Workload = {
    readonly metadata: Scaled;
    readonly spec: { readonly replicas?: number };
  };
  const update = (before: Workload, after: Workload): void => {
    if (before.spec.replicas !== after.spec.replicas) replicasChanged(after.metadata);
  };
  return [deployments, sets, replicationControllers].map((informer) =>
    informer.onChange({ update }),
  );
}

function selecting({ budgets }: Parts, pod: Pod): readonly string[] {
  return budgets.store
    .select(namespaceIndex, pod.metadata.namespace ?? '')
    .filter((budget) => selects(budget, pod))
    .map(({ metadata }) => objectKey(metadata));
}

const selects = ({ spec }: PodDisruptionBudget, pod: Pod): boolean =>
  matchesSelector(selectorFromLabelSelector(spec.selector), pod.metadata.labels);

function isSameForBudgets(a: Pod, b: Pod): boolean {
  return (
    a.metadata.deletionTimestamp === b.metadata.deletionTimestamp &&
    isPodReady(a) === isPodReady(b) &&
    controllerOf(a)?.uid === controllerOf(b)?.uid &&
    deepEqual(a.metadata.labels, b.metadata.labels)
  );
}

async function sync(parts: Parts, key: string): Promise<ReconcileResult | undefined> {
  const budget = parts.budgets.store.get(key);
  if (budget === undefined || budget.metadata.deletionTimestamp !== undefined) return undefined;
  try {
    return await trySync(parts, budget);
  } catch (error) {
    if (isConflict(error)) throw error;
    // Until it can be calculated, nothing may be evicted.
    const status = failedStatus(budget, (error as Error).message, parts.clock.now());
    await writeStatus(parts, budget, status);
    return undefined;
  }
}

async function trySync(
  parts: Parts,
  budget: PodDisruptionBudget,
): Promise<ReconcileResult | undefined> {
  const { recorder, clock } = parts;
  const selector = selectorFromLabelSelector(budget.spec.selector);
  const pods = parts.pods.store
    .select(namespaceIndex, budget.metadata.namespace ?? '')
    .filter(({ metadata }) => matchesSelector(selector, metadata.labels));
  if (pods.length === 0)
    recorder.record(budget, {
      type: 'Normal',
      reason: 'NoPods',
      message: 'No matching pods found',
    });
  // A namespace may have ten thousand pods, and each step goes over all of them.
  await yieldWhenDue();
  const { replicas } = await scaleFor(parts, budget, pods);
  const plan = planBudget({ budget, pods, scale: replicas, now: clock.now() });
  for (const pod of plan.notDeleted)
    recorder.record(pod, {
      type: 'Warning',
      reason: 'NotDeleted',
      message: notDeletedMessage(budget),
    });
  await writeStatus(parts, budget, plan.status);
  return plan.recheckMs === undefined ? undefined : { retryAfterMs: plan.recheckMs };
}

async function scaleFor(
  parts: Parts,
  budget: PodDisruptionBudget,
  pods: readonly Pod[],
): Promise<Scale> {
  if (!needsScale(budget)) return { replicas: 0, hasUnmanaged: false };
  const { recorder } = parts;
  try {
    const scale = await readScale(parts, pods);
    if (scale.hasUnmanaged)
      recorder.record(budget, {
        type: 'Warning',
        reason: 'UnmanagedPods',
        message: `Pods selected by this PodDisruptionBudget (selector: ${goSelector(budget.spec.selector)}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.`,
      });
    return scale;
  } catch (error) {
    const message = `Failed to calculate the number of expected pods: ${(error as Error).message}`;
    recorder.record(budget, {
      type: 'Warning',
      reason: 'CalculateExpectedPodCountFailed',
      message,
    });
    throw error;
  }
}

/** With the resourceVersion that was read: an eviction meanwhile makes the write fail, and the sync is repeated. */
async function writeStatus(
  { client }: Parts,
  budget: PodDisruptionBudget,
  status: PodDisruptionBudgetStatus,
): Promise<void> {
  if (status === budget.status) return;
  try {
    await client.update({ ...budget, status }, { subresource: 'status' });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
