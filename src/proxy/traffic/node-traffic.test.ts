import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exampleServicePort, localEndpoint, remoteEndpoint } from '../model/example-state.ts';
import type { FlowCount } from './count-flows.ts';
import { bytesCounted, portTraffic, selectPorts } from './node-traffic.ts';

function exampleCount(parts: Partial<FlowCount> = {}): FlowCount {
  return {
    ...{ targetPort: 0, set: 'cluster', ip: localEndpoint.ip, port: localEndpoint.port },
    ...{ tracked: 1, open: 1, unanswered: 0, opened: 0, bytesIn: 0, bytesOut: 0 },
    ...{ uncounted: 0, clients: 1, busiest: [] },
    ...parts,
  };
}

const port = exampleServicePort();

describe('portTraffic()', () => {
  it('says which endpoints get new connections', () => {
    const counts = [
      exampleCount(),
      exampleCount({ set: 'local', ...socketOf(remoteEndpoint) }),
      exampleCount({ set: 'unknown', ...socketOf(remoteEndpoint) }),
      exampleCount({ ip: '10.244.9.9' }),
    ];
    const [one] = portTraffic({ ports: [{ family: 'IPv4', port }], counts });
    assert.deepEqual(one?.eligible, { cluster: 2, local: 1 });
    assert.deepEqual(
      one?.endpoints.map(({ isEligible }) => isEligible),
      [true, false, true, false],
    );
  });
});

const socketOf = ({ ip, port }: typeof localEndpoint) => ({ ip, port });

describe('selectPorts()', () => {
  const ports = ['a', 'b', 'c'].map((name, n) => ({
    family: 'IPv4' as const,
    port: exampleServicePort({ name, namespace: name === 'c' ? 'other' : 'default', port: n + 1 }),
  }));
  const counts = [10, 30, 20].flatMap((bytesIn, targetPort) => [
    exampleCount({ targetPort, bytesIn }),
    exampleCount({ targetPort, ...socketOf(remoteEndpoint) }),
  ]);
  const namesOf = (filter: Partial<Parameters<typeof selectPorts>[1]>) => {
    const traffic = [...portTraffic({ ports, counts })];
    const { ports: selected, omittedRows } = selectPorts(traffic, { maxRows: 100, ...filter });
    const rows = selected.map(({ name, endpoints }) => `${name}${endpoints.length}`);
    return [rows.join(' '), omittedRows];
  };
  it('has those of a namespace, or of one Service', () => {
    assert.deepEqual(namesOf({}), ['a2 b2 c2', 0]);
    assert.deepEqual(namesOf({ namespace: 'default' }), ['a2 b2', 0]);
    assert.deepEqual(namesOf({ namespace: 'default', name: 'a' }), ['a2', 0]);
  });
  it('leaves out the rows with the least traffic', () => {
    assert.deepEqual(namesOf({ maxRows: 5 }), ['a2 b2 c1', 1]);
    assert.deepEqual(namesOf({ maxRows: 2 }), ['b1 c1', 4]);
    assert.deepEqual(namesOf({ maxRows: 0 }), ['', 6]);
  });
});

describe('bytesCounted()', () => {
  const cases: readonly (readonly [boolean, number, number, string])[] = [
    [true, 5, 0, 'yes'],
    [true, 5, 5, 'partly'],
    [true, 5, 2, 'partly'],
    [false, 5, 5, 'no'],
    [false, 5, 2, 'partly'],
    [true, 0, 0, 'yes'],
    [false, 0, 0, 'no'],
  ];
  for (const [isAccounting, tracked, uncounted, expected] of cases) {
    it(`${uncounted} of ${tracked} without bytes, accounting ${isAccounting}: ${expected}`, () => {
      assert.equal(bytesCounted(isAccounting, [exampleCount({ tracked, uncounted })]), expected);
    });
  }
});
