import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePacket, exampleServicePort, exampleState } from '../../model/example-state.ts';
import { createRandom, randomPacket, randomState } from '../../model/random-state.ts';
import type { ProxyState } from '../../model/state.ts';
import { judgePacket } from '../../packets/reference-model.ts';
import { runModeContract } from '../mode.contract.ts';
import { defaultSettings, largeClusterCount, type Settings } from './layout.ts';
import { traceBranches, tracePacket, verdictOf } from './trace-packet.ts';
import { traits } from './traits.ts';

runModeContract({ name: 'iptables', tracePacket, traits });

/** The same state among so many services that it is laid out for size. */
function withManyServices(state: ProxyState): ProxyState {
  const ports = new Map(state.ports);
  const clusterIP = state.node.family === 'IPv4' ? '10.97.0.1' : 'fd00:97::1';
  for (let n = 0; n <= largeClusterCount; n += 1) {
    const key = `many/${n}:/TCP`;
    const name = `${n}`;
    ports.set(key, { ...exampleServicePort({ clusterIP, port: n + 1 }), key, name });
  }
  return { ...state, ports };
}

function assertDecidesAlike(settings: Settings, states: number): void {
  for (let seed = 0; seed < states; seed += 1) {
    const random = createRandom(seed);
    const state = randomState(random);
    const trace = traceBranches(withManyServices(state), settings);
    for (let n = 0; n < 40; n += 1) {
      const packet = randomPacket(random, state);
      const wanted = judgePacket(state, packet, traits);
      assert.deepEqual(verdictOf(trace(packet)), wanted, `seed ${seed}, packet ${n}`);
    }
  }
}

test('walk() of a large node decides alike (KPX-42)', () => {
  assertDecidesAlike(defaultSettings, 10);
});

test('walk() of a large node decides alike where the kernel has no xt_bpf', () => {
  assertDecidesAlike({ ...defaultSettings, canCompareEnds: false }, 10);
});

test('every endpoint is as likely as the others (IPT-03)', () => {
  for (const affinity of [{}, { affinitySeconds: 10 }]) {
    for (const count of [1, 2, 3, 7, 100]) {
      const clusterEndpoints = Array.from({ length: count }, (_, n) => ({
        ip: `10.244.3.${n}`,
        port: 80,
        isLocal: false,
      }));
      const state = exampleState([exampleServicePort({ clusterEndpoints, ...affinity })]);
      for (const each of [state, withManyServices(state)]) {
        const ways = traceBranches(each, defaultSettings)(examplePacket());
        assert.equal(ways.length, count);
        for (const { likelihood } of ways) assert.ok(Math.abs(likelihood - 1 / count) < 1e-9);
      }
    }
  }
});
