import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spendSteps, WorkBudgetExceeded, withinBudget } from './work-budget.ts';

const spend = (steps: number): void => {
  for (let n = 0; n < steps; n += 1) spendSteps();
};

test('withinBudget() ends work that has used up its steps, also over several pieces', () => {
  const budget = { left: 10 };
  withinBudget(budget, () => spend(6));
  assert.equal(budget.left, 4);
  assert.throws(() => withinBudget(budget, () => spend(5)), WorkBudgetExceeded);
  assert.equal(budget.left, 0);
  assert.throws(() => withinBudget(budget, () => spendSteps()), WorkBudgetExceeded);
});

test('withinBudget() counts what is inside it on its own', () => {
  const outer = { left: 10 };
  const inner = { left: 100 };
  withinBudget(outer, () => {
    spend(3);
    withinBudget(inner, () => spend(50));
    spend(3);
  });
  assert.deepEqual([outer.left, inner.left], [4, 50]);
});

test('work without a budget has no end', () => {
  assert.throws(() => withinBudget({ left: 1 }, () => spend(2)), WorkBudgetExceeded);
  for (let n = 0; n < 4; n += 1) spendSteps(2 ** 29);
});
