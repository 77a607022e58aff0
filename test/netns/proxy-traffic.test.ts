// Traffic through changes, crashes and foreign hands, with the real binary on the real kernel.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInLab } from './lab/enter.ts';

/** Each takes a second or so; CI has enough with fewer. */
const crashRounds = process.env.CI === undefined ? 50 : 10;
const rollRounds = 200;

async function succeeds(script: string, args: readonly string[]): Promise<void> {
  const { code, output } = await runInLab(script, args);
  assert.equal(code, 0, output);
}

for (const mode of ['nftables', 'iptables', 'userspace']) {
  test(`${mode}: ${rollRounds} changes of endpoints fail no connection and break none (KPX-46)`, async () => {
    await succeeds('roll-over.js', [mode, String(rollRounds)]);
  });
}

for (const mode of ['nftables', 'iptables']) {
  test(`${mode}: killed ${crashRounds} times, traffic flows and rules are right; a foreign flush heals (KPX-40)`, async () => {
    await succeeds('crash.js', [mode, String(crashRounds), String(Date.now() % 1000)]);
  });
}
