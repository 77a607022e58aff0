// From objects to verdicts: for random Services and slices, every mode's rules do what the reference model says.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noOwners } from '../../kinds/service/address-owners.ts';
import { randomObjects } from '../model/random-objects.ts';
import { createRandom, type Random, randomNode, randomPacket } from '../model/random-state.ts';
import type { Family, ProxyState } from '../model/state.ts';
import { createStateTracker } from '../model/track-state.ts';
import type { Verdict } from '../packets/packet.ts';
import { compareDestinations, judgePacket } from '../packets/reference-model.ts';
import { allModes, loadAllModes } from './all.ts';
import type { Mode } from './mode.ts';

const states = 40;
const packetsOfState = 50;

function stateOf(random: Random): ProxyState {
  const family = random.pick<Family>(['IPv4', 'IPv4', 'IPv6']);
  const view = { node: randomNode(random, family), zone: 'zone-a', owners: noOwners };
  const tracker = createStateTracker(view, {
    allowsExternalIPs: true,
    allowsForeignAddresses: false,
    endpointOwner: () => undefined,
  });
  for (let n = 0; n < 30; n += 1) tracker.update(`default/s${n}`, randomObjects(random, `s${n}`));
  return tracker.take().state;
}

function sorted(verdict: Verdict): Verdict {
  if (verdict.kind !== 'translate') return verdict;
  return { ...verdict, destinations: [...verdict.destinations].sort(compareDestinations) };
}

function traceSeed(mode: Mode, seed: number): void {
  const random = createRandom(seed);
  const state = stateOf(random);
  if (state.ports.size === 0) return;
  const tracePacket = mode.tracePacket(state);
  for (let n = 0; n < packetsOfState; n += 1) {
    const packet = randomPacket(random, state);
    const expected = sorted(judgePacket(state, packet, mode.traits));
    assert.deepEqual(
      sorted(tracePacket(packet)),
      expected,
      `seed ${seed}: ${JSON.stringify(packet)}`,
    );
  }
}

describe('allModes', () => {
  it('starts with nftables, the mode that upstream moves to (KPX-49)', () => {
    assert.equal(allModes[0]?.name, 'nftables');
  });
});

describe('tracePacket() and judgePacket() agree on random Services and slices', async () => {
  for (const mode of await loadAllModes()) {
    it(`in mode ${mode.name}, for ${states * packetsOfState} packets`, () => {
      for (let seed = 0; seed < states; seed += 1) traceSeed(mode, seed);
    });
  }
});
