// Balancers at AWS while everything fails. FAIRLEAD_SEED repeats a run, FAIRLEAD_AWS_SERVICES makes it larger.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runChaos } from '../../aws/chaos.ts';
import { chooseSeed } from '../harness/random.ts';

const seed = chooseSeed();
const services = Number(process.env.FAIRLEAD_AWS_SERVICES ?? 60);
const maxLines = 5;
const nothing = { missing: [], left: [] };

test(`the account holds exactly what ${services} Services say, whatever happens (seed ${seed})`, async (t) => {
  const { found, wanted, balancers, calls, faults } = await runChaos({
    services,
    changes: services * 2,
    kills: 6,
    seed,
  });
  t.diagnostic(`${balancers} balancers, ${calls} calls, ${faults} of them failed`);
  // All of it would be megabytes.
  const without = (some: readonly string[], others: readonly string[]): readonly string[] => {
    const known = new Set(others);
    return some.filter((line) => !known.has(line)).slice(0, maxLines);
  };
  assert.deepEqual({ missing: without(wanted, found), left: without(found, wanted) }, nothing);
  assert.equal(found.length, wanted.length);
  assert.ok(balancers > services / 4, 'there must be something to hold');
  assert.ok(faults > calls / 10, 'something must have gone wrong');
});
