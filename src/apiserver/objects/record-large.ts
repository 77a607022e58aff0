// managedFields of a large object: recorded in steps, with other requests in between, and bounded like the object itself.
import type { KubeObject } from '../../meta/object.ts';
import { maxValues } from '../../schema/value-count.ts';
import { WorkBudgetExceeded, withinBudget } from '../../schema/work-budget.ts';
import { checkValues, tooManyValues } from '../limits/check-values.ts';
import { type Pace, runSteps } from '../limits/pace.ts';
import { recordSteps, type UpdateRecord } from '../patch/managed-fields.ts';

export type LargeRecord = {
  readonly pace: Pace;
  readonly record: UpdateRecord;
  /** How an apply records; absent: by the manager of the request, as an Update. */
  readonly recordManagers: ((object: KubeObject) => KubeObject) | undefined;
};

export async function recordLarge({
  pace,
  record,
  recordManagers,
}: LargeRecord): Promise<KubeObject> {
  await pace.pause();
  // Defaults make an object larger; one that is too large need not be recorded.
  checkValues(record.after, 'the object');
  await pace.pause();
  const managed =
    recordManagers === undefined
      ? await runSteps(boundSet(recordSteps(record)), pace)
      : recordManagers(record.after);
  await pace.pause();
  checkValues(managed, 'the object');
  await pace.pause();
  return managed;
}

/** The field set is part of the object: it has the same limit. */
function* boundSet(steps: Generator<undefined, KubeObject>): Generator<undefined, KubeObject> {
  const budget = { remaining: maxValues };
  for (;;) {
    const { done, value } = bounded(() => withinBudget(budget, () => steps.next()));
    if (done) return value;
    yield;
  }
}

function bounded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof WorkBudgetExceeded) throw tooManyValues('values', 'the object');
    throw error;
  }
}
