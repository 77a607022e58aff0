// What every mode must do with packets: what the reference model says, given the mode's traits.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRandom, randomPacket, randomState } from '../model/random-state.ts';
import type { ProxyState } from '../model/state.ts';
import type { Packet, Verdict } from '../packets/packet.ts';
import { compareDestinations, judgePacket } from '../packets/reference-model.ts';
import type { Mode } from './mode.ts';
import { packetScenarios } from './mode-scenarios.ts';

export type ContractOptions = {
  /** How many random states; each gets a hundred packets. */
  readonly states?: number;
};

const packetsOfState = 100;

export function runModeContract(
  mode: Pick<Mode, 'name' | 'tracePacket' | 'traits'>,
  { states = 100 }: ContractOptions = {},
): void {
  describe(`mode ${mode.name}`, () => {
    for (const { title, state, packets } of packetScenarios) {
      it(title, () => {
        const tracePacket = mode.tracePacket(state);
        for (const { what, packet } of packets) {
          assertSame(tracePacket(packet), judgePacket(state, packet, mode.traits), {
            what,
            packet,
            state,
          });
        }
      });
    }
    it(`agrees with the reference model on ${packetsOfState} random packets in each of ${states} random states`, () => {
      const seed = process.env.FAIRLEAD_SEED;
      const seeds =
        seed === undefined ? Array.from({ length: states }, (_, n) => n) : [Number(seed)];
      for (const seed of seeds) traceRandom(mode, seed);
    });
  });
}

function traceRandom(
  { tracePacket, traits }: Pick<Mode, 'tracePacket' | 'traits'>,
  seed: number,
): void {
  const random = createRandom(seed);
  const state = randomState(random);
  const trace = tracePacket(state);
  for (let n = 0; n < packetsOfState; n += 1) {
    const packet = randomPacket(random, state);
    const what = `FAIRLEAD_SEED=${seed}, packet ${n}`;
    assertSame(trace(packet), judgePacket(state, packet, traits), { what, packet, state });
  }
}

type Case = { readonly what: string; readonly packet: Packet; readonly state: ProxyState };

function assertSame(actual: Verdict, expected: Verdict, { what, packet, state }: Case): void {
  const involved = [...state.ports.values()].filter(
    (port) =>
      port.port === packet.destinationPort ||
      port.nodePort === packet.destinationPort ||
      port.clusterIP === packet.destination,
  );
  try {
    assert.deepEqual(sorted(actual), sorted(expected));
  } catch (cause) {
    const about = JSON.stringify({ packet, node: state.node, involved }, undefined, 1);
    throw new Error(`${what}: ${(cause as Error).message}\n${about}`, { cause });
  }
}

function sorted(verdict: Verdict): Verdict {
  if (verdict.kind !== 'translate') return verdict;
  return { ...verdict, destinations: [...verdict.destinations].sort(compareDestinations) };
}
