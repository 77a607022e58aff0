import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exampleServicePort } from '../model/example-state.ts';
import { countRelayed, type FamilyRelayed, relayedPortKey } from './relayed.ts';

const port = exampleServicePort();
const ports = new Map([[relayedPortKey('IPv4', port.key), { family: 'IPv4' as const, port }]]);

function example(parts: Partial<FamilyRelayed> = {}): FamilyRelayed {
  return {
    ...{ family: 'IPv4', portKey: port.key, set: 'cluster', ip: '10.244.1.11', port: 9376 },
    ...{ open: 1, opened: 5, bytesIn: 100, bytesOut: 1000 },
    ...{ clients: 1, busiest: [] },
    ...parts,
  };
}

describe('countRelayed()', () => {
  const now = example({ open: 2, opened: 9, bytesIn: 150, bytesOut: 1900 });
  const cases: readonly (readonly [string, readonly FamilyRelayed[], readonly number[]])[] = [
    ['what was added', [example()], [4, 50, 900, 2, 5]],
    ['all of a new endpoint', [], [9, 150, 1900, 2, 9]],
    ['all of a relay that was opened anew', [example({ opened: 10 })], [9, 150, 1900, 2, 9]],
    ['not what another set had', [example({ set: 'local' })], [9, 150, 1900, 2, 9]],
    ['not what the other family had', [example({ family: 'IPv6' })], [9, 150, 1900, 2, 9]],
  ];
  for (const [title, before, expected] of cases) {
    it(title, () => {
      const [row] = countRelayed({ before, after: [now], ports }).counts;
      assert.deepEqual(
        [row?.opened, row?.bytesIn, row?.bytesOut, row?.open, row?.tracked],
        expected,
      );
    });
  }
  it('leaves out idle endpoints, and ports that are gone', () => {
    const idle = example({ open: 0 });
    const gone = example({ portKey: 'default/gone:/TCP' });
    assert.deepEqual(countRelayed({ before: [idle], after: [idle, gone], ports }).counts, []);
  });
  it('adds up the relays of one set of endpoints', () => {
    const [row] = countRelayed({ before: [example(), example()], after: [now, now], ports }).counts;
    assert.deepEqual([row?.opened, row?.bytesIn, row?.open, row?.clients], [8, 100, 4, 2]);
  });
});
