// Validates an object before it is written. The checks of a large object run in steps, with other requests in between.
import { type FieldError, joined } from '../../meta/field-error.ts';
import { type Pace, spending } from '../limits/pace.ts';

export type Check = () => readonly FieldError[];

export function findErrors(
  pace: Pace | undefined,
  checks: readonly Check[],
): readonly FieldError[] | Promise<readonly FieldError[]> {
  if (pace?.isLarge()) return findErrorsInSteps(pace, checks);
  return joined(checks.map((check) => check()));
}

async function findErrorsInSteps(
  pace: Pace,
  checks: readonly Check[],
): Promise<readonly FieldError[]> {
  const found: (readonly FieldError[])[] = [];
  for (const check of checks) {
    await pace.pause();
    found.push(spending(pace, check));
  }
  await pace.pause();
  return joined(found);
}
