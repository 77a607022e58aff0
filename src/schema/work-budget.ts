// A budget of steps for the work of one request. The limits of values bound what a request holds, but not what is made of it: a
// patch, a set of fields or a list of errors may grow beyond what was sent. Code that makes such things calls spendSteps() for
// each, and a request that has used up its steps ends there with an answer instead of holding up everybody else.
//
// Counting is one subtraction. Work that nobody gave a budget is not bounded.

export type WorkBudget = {
  /** Steps that are left. */
  left: number;
};

/** Thrown where the steps are used up; whoever gave the budget says in the answer what was too much. */
export class WorkBudgetExceeded extends Error {
  override readonly name = 'WorkBudgetExceeded';
  constructor() {
    super('the work budget of the request is used up');
  }
}

/** Small enough for the integers that a processor counts with, and more than any request spends without a budget. */
const unlimited = 2 ** 30 - 1;

let left = unlimited;
let isLimited = false;

export function spendSteps(steps = 1): void {
  left -= steps;
  if (left < 0) exhausted();
}

function exhausted(): void {
  left = isLimited ? 0 : unlimited;
  if (isLimited) throw new WorkBudgetExceeded();
}

/** Runs work without awaits at the expense of the budget; what calls this again inside pays for itself. */
export function withinBudget<T>(budget: WorkBudget, work: () => T): T {
  const outer = { left, isLimited };
  left = budget.left;
  isLimited = true;
  try {
    return work();
  } finally {
    budget.left = Math.max(left, 0);
    left = outer.left;
    isLimited = outer.isLimited;
  }
}
