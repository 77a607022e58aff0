import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spendSteps, WorkBudgetExceeded, withinBudget } from './work-budget.ts';

const spend = (steps: number): void => {
  for (let n = 0; n < steps; n += 1) spendSteps();
};

test('withinBudget() ends work that exceeds the budget, also over several calls', () => {
  const budget = { remaining: 10 };
  withinBudget(budget, () => spend(6));
  assert.equal(budget.remaining, 4);
  assert.throws(() => withinBudget(budget, () => spend(5)), WorkBudgetExceeded);
  assert.equal(budget.remaining, 0);
  assert.throws(() => withinBudget(budget, () => spendSteps()), WorkBudgetExceeded);
});

test('withinBudget() counts nested budgets separately', () => {
  const outer = { remaining: 10 };
  const inner = { remaining: 100 };
  withinBudget(outer, () => {
    spend(3);
    withinBudget(inner, () => spend(50));
    spend(3);
  });
  assert.deepEqual([outer.remaining, inner.remaining], [4, 50]);
});

test('work without a budget is not limited', () => {
  assert.throws(() => withinBudget({ remaining: 1 }, () => spend(2)), WorkBudgetExceeded);
  for (let n = 0; n < 4; n += 1) spendSteps(2 ** 29);
});
