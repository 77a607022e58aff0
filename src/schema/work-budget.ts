// A budget of steps for one request. Limits of values bound what a request contains, not what is derived from it: a
// patch, a field set or a list of errors may become larger. Code that produces such values calls spendSteps(); a
// request that exceeds its budget ends with an error instead of blocking other requests. Spending is one subtraction.
// Work without a budget is not limited.

export type WorkBudget = {
  /** Remaining steps. */
  remaining: number;
};

/** Thrown when the budget is exceeded; the owner of the budget translates it into a response. */
export class WorkBudgetExceeded extends Error {
  override readonly name = 'WorkBudgetExceeded';
  constructor() {
    super('the work budget of the request is used up');
  }
}

/** A small integer, and more than any request spends without a budget. */
const unlimited = 2 ** 30 - 1;

let remaining = unlimited;
let isLimited = false;

export function spendSteps(steps = 1): void {
  remaining -= steps;
  if (remaining < 0) exhausted();
}

function exhausted(): void {
  remaining = isLimited ? 0 : unlimited;
  if (isLimited) throw new WorkBudgetExceeded();
}

/** Runs synchronous work with this budget; nested calls have budgets of their own. */
export function withinBudget<T>(budget: WorkBudget, work: () => T): T {
  const outer = { remaining, isLimited };
  remaining = budget.remaining;
  isLimited = true;
  try {
    return work();
  } finally {
    budget.remaining = Math.max(remaining, 0);
    remaining = outer.remaining;
    isLimited = outer.isLimited;
  }
}
