import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, randomState } from '../../model/random-state.ts';
import type { ProxyState } from '../../model/state.ts';
import { defaultSettings } from './layout.ts';
import { openRuleBook, type WrittenRules } from './rule-book.ts';

function openAnew(state: ProxyState): WrittenRules {
  return openRuleBook(state, defaultSettings).keep();
}

test('rules that followed changes have the counts and the fingerprint of rules made anew', () => {
  for (let seed = 1; seed <= 40; seed += 1) {
    const first = randomState(createRandom(seed), { family: 'IPv4' });
    const { node } = first;
    const kept = openAnew(first);
    let ports = first.ports;
    for (const other of [100, 200, 300]) {
      const next = randomState(createRandom(seed + other), { family: 'IPv4' }).ports;
      const state = { node, ports: next };
      kept.follow(state, new Set([...ports.keys(), ...next.keys()]));
      ports = next;
      const anew = openAnew(state);
      assert.deepEqual(kept.counts(), anew.counts(), `seed ${seed}`);
      assert.equal(kept.fingerprint(), anew.fingerprint(), `seed ${seed}`);
    }
  }
});
