// Traffic in ipvs mode through changes of endpoints, crashes of the proxy and foreign hands, with the real binary.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { runInLab } from '../netns/lab/enter.ts';
import { loadModules } from './load-modules.ts';

/** A round takes ten seconds and more under emulation: CI has a few, and as many as are asked for. */
const rollRounds = Number(process.env.FAIRLEAD_VM_ROLL_ROUNDS ?? 3);
/** A round takes a minute: only when asked for. */
const crashRounds = Number(process.env.FAIRLEAD_VM_CRASH_ROUNDS ?? 0);
const skip = crashRounds > 0 ? false : 'a round takes a minute; set FAIRLEAD_VM_CRASH_ROUNDS';
const otherServices = 20;

before(loadModules);

async function succeeds(script: string, args: readonly string[]): Promise<void> {
  const { code, output } = await runInLab(script, args);
  assert.equal(code, 0, output);
}

test(`ipvs: ${rollRounds} changes of endpoints fail no connection and break none (KPX-46, IVS-07)`, async () => {
  await succeeds('roll-over.js', ['ipvs', String(rollRounds)]);
});

test(`ipvs: killed ${crashRounds} times in the middle of writes, traffic flows and virtual servers are right; a foreign flush heals (KPX-40)`, {
  skip,
}, async () => {
  const seed = Date.now() % 1000;
  await succeeds('crash.js', ['ipvs', String(crashRounds), String(seed), String(otherServices)]);
});
