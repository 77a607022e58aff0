// Traffic in ipvs mode through changes of endpoints, crashes of the proxy and foreign hands, with the real binary.
import assert from 'node:assert/strict';
import { before, type TestContext, test } from 'node:test';
import { capturesAll, capturesNothing } from '../netns/lab/captured.ts';
import { runInLab } from '../netns/lab/enter.ts';
import { loadModules } from './load-modules.ts';

/** Rounds take up to seven seconds under emulation: CI has a few, and as many as are asked for. */
const rollRounds = Number(process.env.FAIRLEAD_VM_ROLL_ROUNDS ?? 20);
const crashRounds = Number(process.env.FAIRLEAD_VM_CRASH_ROUNDS ?? 2);
/** Few that have many ports: few requests, and much to write. */
const [otherServices, portsOfEach] = [4, 4];

before(loadModules);

async function succeeds(t: TestContext, script: string, args: readonly unknown[]): Promise<void> {
  const { code, output } = await runInLab(script, args.map(String));
  assert.equal(code, 0, output);
  t.diagnostic(output.trim().split('\n').at(-1) ?? '');
}

test(`ipvs: ${rollRounds} changes of endpoints fail no connection and break none (KPX-46, IVS-07)`, (t) =>
  succeeds(t, 'roll-over.js', ['ipvs', rollRounds]));

test(`ipvs: killed ${crashRounds} times in the middle of writes, traffic flows and virtual servers are right; a foreign flush heals (KPX-40)`, (t) => {
  const seed = Date.now() % 1000;
  return succeeds(t, 'crash.js', ['ipvs', crashRounds, seed, otherServices, portsOfEach]);
});

test('ipvs: Services that name addresses of others capture nothing (CVE-2020-8554)', () =>
  capturesNothing('ipvs'));

test('ipvs: with --allow-foreign-addresses they do', () => capturesAll('ipvs'));
