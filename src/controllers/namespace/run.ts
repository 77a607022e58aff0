// Terminates namespaces: deletes their content some seconds after the delete, then removes the finalizer.

import { type ReconcileResult, startReconciler } from '../../client/reconcile.ts';
import { type ResourceClient, resourceClient } from '../../client/rest.ts';
import { retryOnConflict } from '../../client/retry-on-conflict.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import { namespaceDefinition } from '../../kinds/namespace/definition.ts';
import type { Namespace } from '../../kinds/namespace/types.ts';
import { everything, may, mayWatch } from '../../kinds/rbac/rights.ts';
import { isNotFound } from '../../meta/api-error.ts';
import { kubernetesFinalizer } from '../../meta/finalizers.ts';
import { parseTime } from '../../schema/time.ts';
import type { Controller, ControllerParts } from '../controller.ts';
import { deleteContent } from './apply.ts';
import {
  type DeletionReport,
  desiredConditions,
  estimateSeconds,
  retryAfterMs,
  withoutFinalizer,
} from './desired.ts';

/** API servers that have not seen the deletion yet may still admit content for this long. */
const contentGraceMs = 5000;
const backOff = { firstMs: 5, maxMs: 60_000 };

export const namespaceController: Controller = {
  name: 'namespace-controller',
  shortName: 'namespace',
  account: 'namespace-controller',
  watches: mayWatch(namespaceDefinition),
  rights: [
    may('get', namespaceDefinition),
    may('update', namespaceDefinition, { subresource: 'status' }),
    may('update', namespaceDefinition, { subresource: 'finalize' }),
    may('deletecollection list', everything),
    may('delete', everything, { onlyElsewhere: 'for resources without deletecollection' }),
  ],
  async run(parts, signal) {
    const { informers, clock, log, queueMetrics: metrics } = parts;
    const { concurrentNamespaceSyncs: concurrency } = parts.settings;
    const namespaces = informers.of(namespaceDefinition);
    if (!(await waitForSync([namespaces], signal))) return;
    const reconcile = (name: string): Promise<ReconcileResult | undefined> =>
      terminateNamespace(parts, name, signal);
    const { queue, ended } = startReconciler(
      { name: 'namespace', reconcile, clock, log, metrics, concurrency, backOff },
      signal,
    );
    const addTerminating = ({ metadata }: Namespace): void => {
      if (metadata.deletionTimestamp !== undefined)
        queue.addAfter(metadata.name ?? '', contentGraceMs);
    };
    const stop = namespaces.onChange({
      add: addTerminating,
      update: (_before, after) => addTerminating(after),
    });
    await ended;
    stop();
  },
};

async function terminateNamespace(
  { caller, clock }: ControllerParts,
  name: string,
  signal: AbortSignal,
): Promise<ReconcileResult | undefined> {
  const client = resourceClient(caller, namespaceDefinition);
  const namespace = await read(client, name);
  const deletionTimestamp = namespace?.metadata.deletionTimestamp;
  if (namespace === undefined || deletionTimestamp === undefined) return;
  // Without finalizers there is nothing to wait for, as upstream.
  if ((namespace.spec.finalizers ?? []).length === 0) return;
  const now = clock.now();
  const deletedMs = parseTime(deletionTimestamp) ?? now;
  const report = await deleteContent({ caller, namespace: name, deletedMs, now, signal });
  await writeConditions(client, name, report, now);
  const problem = report.discoveryError ?? report.contentErrors.join(', ');
  if (problem !== '') throw new Error(problem);
  const estimate = estimateSeconds(report);
  if (estimate > 0) return { retryAfterMs: retryAfterMs(estimate) };
  await finalize(client, name);
  return undefined;
}

async function read(
  client: ResourceClient<Namespace>,
  name: string,
): Promise<Namespace | undefined> {
  try {
    return await client.get({ name });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function writeConditions(
  client: ResourceClient<Namespace>,
  name: string,
  report: DeletionReport,
  now: number,
): Promise<void> {
  await retryOnConflict(async () => {
    const namespace = await read(client, name);
    if (namespace === undefined) return;
    const current = namespace.status.conditions ?? [];
    const conditions = desiredConditions(current, report, now);
    if (conditions === current) return;
    await client.update(
      { ...namespace, status: { ...namespace.status, phase: 'Terminating', conditions } },
      { subresource: 'status' },
    );
  });
}

/** Removes our finalizer; other finalizers keep the namespace. */
async function finalize(client: ResourceClient<Namespace>, name: string): Promise<void> {
  await retryOnConflict(async () => {
    const namespace = await read(client, name);
    if (namespace === undefined) return;
    const finalizers = withoutFinalizer(namespace, kubernetesFinalizer);
    await client.update(
      { ...namespace, spec: { ...namespace.spec, finalizers } },
      { subresource: 'finalize' },
    );
  });
}
