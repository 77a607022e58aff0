// Traffic through changes, crashes and foreign hands, with the real binary on the real kernel.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runInLab } from './lab/enter.ts';

/** Each takes a second or so; CI has enough with fewer. */
const crashRounds = process.env.CI === undefined ? 50 : 10;
const rollRounds = 200;

async function succeeds(script: string, args: readonly string[]): Promise<void> {
  const { code, output } = await runInLab(script, args);
  assert.equal(code, 0, output);
}

// A lab for each mode, side by side: what one kernel does to another's traffic is none of their business.
describe(`${rollRounds} changes of endpoints fail no connection and break none (KPX-46)`, {
  concurrency: true,
}, () => {
  for (const mode of ['nftables', 'iptables', 'userspace']) {
    test(`in ${mode} mode`, () => succeeds('roll-over.js', [mode, String(rollRounds)]));
  }
});

describe(`killed ${crashRounds} times, traffic flows and rules are right; a foreign flush heals (KPX-40)`, {
  concurrency: true,
}, () => {
  for (const mode of ['nftables', 'iptables']) {
    const seed = String(Date.now() % 1000);
    test(`in ${mode} mode`, () => succeeds('crash.js', [mode, String(crashRounds), seed]));
  }
});
