// What every mode must do with packets. A mode's own test calls runModeContract and adds only what is special about it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRandom, randomPacket, randomState } from '../model/random-state.ts';
import type { Protocol, ProxyState } from '../model/state.ts';
import type { Packet, Verdict } from '../packets/packet.ts';
import { compareDestinations, judgePacket } from '../packets/reference-model.ts';
import type { Mode } from './mode.ts';
import { packetScenarios } from './mode-scenarios.ts';

export type ContractOptions = {
  /** What the mode carries; all when left out. */
  readonly protocols?: readonly [Protocol, ...Protocol[]];
  /** How many random states; each gets a hundred packets. */
  readonly states?: number;
};

const packetsOfState = 100;

export function runModeContract(
  mode: Pick<Mode, 'name' | 'tracePacket' | 'traits'>,
  { protocols = ['TCP', 'UDP', 'SCTP'], states = 100 }: ContractOptions = {},
): void {
  describe(`mode ${mode.name}`, () => {
    for (const { title, state, packets } of packetScenarios) {
      const carried = packets.filter(({ packet }) => protocols.includes(packet.protocol));
      if (carried.length === 0) continue;
      it(title, () => {
        const tracePacket = mode.tracePacket(state);
        for (const { what, packet } of carried) {
          assertSame(tracePacket(packet), judgePacket(state, packet, mode.traits), {
            what,
            packet,
            state,
          });
        }
      });
    }
    it(`carries ${packetsOfState} random packets through each of ${states} random states`, () => {
      const given = process.env.FAIRLEAD_SEED;
      const seeds =
        given === undefined ? Array.from({ length: states }, (_, n) => n) : [Number(given)];
      for (const seed of seeds) walkRandom(mode, seed, protocols);
    });
  });
}

function walkRandom(
  { tracePacket, traits }: Pick<Mode, 'tracePacket' | 'traits'>,
  seed: number,
  protocols: readonly [Protocol, ...Protocol[]],
): void {
  const random = createRandom(seed);
  const state = randomState(random, { protocols });
  const walkPacket = tracePacket(state);
  for (let n = 0; n < packetsOfState; n += 1) {
    const packet = randomPacket(random, state);
    if (!protocols.includes(packet.protocol)) continue;
    const what = `FAIRLEAD_SEED=${seed}, packet ${n}`;
    assertSame(walkPacket(packet), judgePacket(state, packet, traits), { what, packet, state });
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
