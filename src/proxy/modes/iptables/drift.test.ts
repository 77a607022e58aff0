import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exampleServicePort, exampleState } from '../../model/example-state.ts';
import type { Endpoint, ProxyState } from '../../model/state.ts';
import { desiredRules } from './desired.ts';
import { toText } from './diff.ts';
import { driftOf } from './drift.ts';
import { defaultSettings } from './layout.ts';
import { portChainNames } from './names.ts';
import { parseSaved, type SavedRules } from './saved-rules.ts';

const endpoint = (last: number): Endpoint => ({
  ...{ ip: `10.244.2.${last}`, port: 9376, isLocal: false },
});
const port = exampleServicePort({
  clusterEndpoints: [endpoint(1), endpoint(2)],
  hasEndpoints: true,
});
const state = exampleState([port]);

/** As iptables-save prints what was written for the state. */
function savedOf(written: ProxyState): SavedRules {
  const chains = toText(desiredRules(written, defaultSettings).chains, written.node.family);
  const lines = [...chains.values()]
    .filter(({ table }) => table === 'nat')
    .flatMap(({ name, lines }) => [
      `:${name} - [0:0]`,
      ...lines.map((line) => `-A ${name} ${line}`),
    ]);
  return parseSaved(['*nat', ...lines, 'COMMIT'].join('\n'));
}

describe('driftOf()', () => {
  it('finds none where all is there', () => {
    assert.deepEqual(driftOf(savedOf(state), state), { missing: [], stale: [] });
  });

  it('finds none in the layout of a large cluster', () => {
    const many = Array.from({ length: 1001 }, (_, n) =>
      exampleServicePort({
        key: `default/s${n}:/TCP`,
        name: `s${n}`,
        clusterIP: `10.97.${n >> 8}.${n & 255}`,
      }),
    );
    assert.deepEqual(driftOf(savedOf(exampleState([...many, port])), state), {
      ...{ missing: [], stale: [] },
    });
  });

  it('shows the rules of endpoints that are missing, and of those that are no more', () => {
    const before = { ...port, clusterEndpoints: [endpoint(1), endpoint(7)] };
    const { missing = [], stale = [] } = driftOf(savedOf(exampleState([before])), state) ?? {};
    assert.equal(missing.length, 1);
    assert.match(missing[0] ?? '', /^-A KUBE-SEP-\S+ .*--to-destination 10\.244\.2\.2:9376$/);
    assert.match(stale.join(), /^-A KUBE-SEP-\S+ .*--to-destination 10\.244\.2\.7:9376$/);
  });

  it('shows that nothing leads to the port', () => {
    const saved = savedOf(state);
    const nat = new Map(saved.get('nat'));
    const { cluster } = portChainNames(port);
    for (const [name, lines] of nat)
      nat.set(
        name,
        lines.filter((line) => !line.includes(cluster)),
      );
    const { missing = [] } = driftOf(new Map([['nat', nat]]), state) ?? {};
    assert.match(missing[0] ?? '', /^a rule of KUBE-SERVICES that leads to /);
  });

  it('does not judge a kernel without such rules', () => {
    assert.equal(driftOf(parseSaved('*nat\n:PREROUTING ACCEPT [0:0]\nCOMMIT\n'), state), undefined);
  });
});
