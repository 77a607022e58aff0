import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Element } from '../../../host/nftables/objects.ts';
import { exampleServicePort, exampleState } from '../../model/example-state.ts';
import type { Endpoint } from '../../model/state.ts';
import { desiredForPort } from './desired.ts';
import type { TableContents } from './diff.ts';
import { driftOf } from './drift.ts';
import { layoutFingerprint } from './fingerprint.ts';
import { endpointsOfIPs, writtenRules } from './layout.ts';

const endpoint = (last: number): Endpoint => ({
  ...{ ip: `10.244.2.${last}`, port: 9376, isLocal: false },
});
const port = exampleServicePort({ clusterEndpoints: [endpoint(1), endpoint(2)] });
const other = exampleServicePort({ key: 'default/b:/TCP', name: 'b', clusterIP: '10.96.0.99' });
const state = exampleState([port]);
const render = ({ key, data }: Element): string => `${key.join(' ')} ${JSON.stringify(data)}`;

/** As the kernel has it when these ports were written. */
function contentsOf(ports: readonly (typeof port)[]): TableContents {
  const fragments = ports.map((one) => desiredForPort(one, state.node));
  const elements = new Map<string, Element[]>();
  const entries = [...fragments.flatMap((one) => one.entries), layoutFingerprint];
  for (const { set, element } of entries) {
    elements.set(set.name, [...(elements.get(set.name) ?? []), element]);
  }
  const chains = fragments.flatMap((one) => one.chains);
  return {
    chains: new Map(chains.map(({ chain, rules }) => [chain.name, rules.length])),
    elements,
  };
}

describe('driftOf()', () => {
  it('finds none where all is there, and leaves other ports alone', () => {
    assert.deepEqual(driftOf(contentsOf([port, other]), state, render), { missing: [], stale: [] });
  });

  it('shows the endpoint that is missing, and the one in its place', () => {
    const before = { ...port, clusterEndpoints: [endpoint(1), endpoint(7)] };
    const { missing, stale } = driftOf(contentsOf([before]), state, render) ?? {
      ...{ missing: [], stale: [] },
    };
    const [{ name }] = [endpointsOfIPs];
    assert.deepEqual(missing, [
      `element of ${name}: ${port.clusterIP} tcp 80 1 ["10.244.2.2",9376]`,
    ]);
    assert.deepEqual(stale, [`element of ${name}: ${port.clusterIP} tcp 80 1 ["10.244.2.7",9376]`]);
  });

  it('shows chains that are missing', () => {
    const { missing } = driftOf({ ...contentsOf([port]), chains: new Map() }, state, render) ?? {
      missing: [],
    };
    assert.ok(missing.length > 0 && missing.every((text) => text.startsWith('chain ')));
  });

  it('does not judge the table of another program', () => {
    const contents = contentsOf([port]);
    const elements = new Map(contents.elements);
    elements.delete(writtenRules.name);
    assert.equal(driftOf({ ...contents, elements }, state, render), undefined);
  });
});
