// Traffic in ipvs mode through changes of endpoints, crashes of the proxy and foreign hands, with the real binary.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { runInLab } from '../netns/lab/enter.ts';
import { loadModules } from './load-modules.ts';

/** A round takes seconds under emulation: CI has a few, and as many as are asked for. */
const rollRounds = Number(process.env.FAIRLEAD_VM_ROLL_ROUNDS ?? 10);
const crashRounds = Number(process.env.FAIRLEAD_VM_CRASH_ROUNDS ?? 3);
const otherServices = 20;

before(loadModules);

async function succeeds(script: string, args: readonly string[]): Promise<void> {
  const { code, output } = await runInLab(script, args);
  assert.equal(code, 0, output);
}

test(`ipvs: ${rollRounds} changes of endpoints fail no connection and break none (KPX-46, IVS-07)`, async () => {
  await succeeds('roll-over.js', ['ipvs', String(rollRounds)]);
});

test(`ipvs: killed ${crashRounds} times in the middle of writes, traffic flows and virtual servers are right; a foreign flush heals (KPX-40)`, async () => {
  const seed = Date.now() % 1000;
  await succeeds('crash.js', ['ipvs', String(crashRounds), String(seed), String(otherServices)]);
});
