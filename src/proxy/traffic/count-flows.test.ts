import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ExampleFlow, exampleFlowDatagram } from '../../host/netlink/example-flows.ts';
import { createFlowRecord, readFlowRecords } from '../../host/netlink/flow-records.ts';
import { maxClients } from '../../kinds/part/traffic.ts';
import { exampleNode, exampleNode6, exampleServicePort } from '../model/example-state.ts';
import type { NodeState, ServicePort } from '../model/state.ts';
import { createFlowCounter, type FlowCount } from './count-flows.ts';
import { maxFlows } from './flow-table.ts';
import { addTarget, makeTargets } from './targets.ts';

type Setup = {
  readonly port?: Partial<ServicePort>;
  readonly node?: NodeState;
  readonly first?: readonly ExampleFlow[];
  readonly second: readonly ExampleFlow[];
  readonly limit?: number;
};

function countAll({ port, node = exampleNode(), first = [], second, limit }: Setup) {
  const targets = makeTargets(['127.0.0.1', '10.20.0.11', 'fd20::11']);
  addTarget(targets, exampleServicePort(port), node);
  const counter = createFlowCounter(targets, limit);
  const record = createFlowRecord();
  readFlowRecords(exampleFlowDatagram(first), record, counter.first);
  readFlowRecords(exampleFlowDatagram(second), record, counter.second);
  return counter.counts();
}

const rowsOf = (setup: Setup): readonly FlowCount[] => countAll(setup).rows;

/** A connection of a pod to the cluster IP, at the endpoint on this node. */
function flow(parts: Partial<ExampleFlow> = {}): ExampleFlow {
  return {
    ...{ source: '10.244.1.7', destination: '10.96.0.20', destinationPort: 80 },
    ...{ replySource: '10.244.1.11', replySourcePort: 9376 },
    ...parts,
  };
}

const state = { synSent: 1, established: 3, timeWait: 7, close: 8 } as const;
const udp = 17;

describe('createFlowCounter() states', () => {
  const cases: readonly (readonly [string, Partial<ExampleFlow>, readonly number[]])[] = [
    ['open TCP', { state: state.established }, [1, 1, 0]],
    ['TCP without an answer', { state: state.synSent, status: 0 }, [1, 0, 1]],
    ['TCP that has ended', { state: state.timeWait }, [1, 0, 0]],
    ['TCP that was reset', { state: state.close }, [1, 0, 0]],
  ];
  for (const [title, parts, expected] of cases) {
    it(title, () => {
      const [row] = rowsOf({ second: [flow(parts)] });
      assert.deepEqual([row?.tracked, row?.open, row?.unanswered], expected);
    });
  }
  it('UDP is open once it was answered', () => {
    const second = [
      flow({ protocol: udp, id: 1 }),
      flow({ protocol: udp, id: 2, sourcePort: 1, status: 0 }),
    ];
    const [row] = rowsOf({ port: { protocol: 'UDP' }, second });
    assert.deepEqual([row?.tracked, row?.open, row?.unanswered], [2, 1, 1]);
  });
});

describe('createFlowCounter() targets', () => {
  const nodePort = { nodePort: 30_080 };
  const cases: readonly (readonly [string, Partial<ServicePort>, ExampleFlow, number])[] = [
    ['a cluster IP', {}, flow(), 1],
    ['another port of it', {}, flow({ destinationPort: 81 }), 0],
    ['another protocol', {}, flow({ protocol: udp }), 0],
    [
      'an address that no rule translates',
      {},
      flow({ replySource: '10.96.0.20', replySourcePort: 80 }),
      0,
    ],
    ['an endpoint, directly', {}, flow({ destination: '10.244.1.11', destinationPort: 9376 }), 0],
    ['an external IP', { externalIPs: ['192.0.2.7'] }, flow({ destination: '192.0.2.7' }), 1],
    ['a load balancer', { loadBalancerIPs: ['192.0.2.8'] }, flow({ destination: '192.0.2.8' }), 1],
    ['a node port', nodePort, flow({ destination: '10.20.0.11', destinationPort: 30_080 }), 1],
    [
      'a node port on loopback',
      nodePort,
      flow({ destination: '127.0.0.1', destinationPort: 30_080 }),
      1,
    ],
    [
      "another node's node port",
      nodePort,
      flow({ destination: '10.20.0.12', destinationPort: 30_080 }),
      0,
    ],
    ['a pod that reaches itself', {}, flow({ source: '10.244.1.11' }), 1],
    ['only the port differs', {}, flow({ replySource: '10.96.0.20' }), 1],
  ];
  for (const [title, port, one, expected] of cases) {
    it(title, () => {
      const rows = rowsOf({ port, second: [one] });
      assert.equal(
        rows.reduce((sum, { tracked }) => sum + tracked, 0),
        expected,
      );
    });
  }
  it('IPv6', () => {
    const second = [
      flow({ source: 'fd44::7', destination: 'fd00:96::20', replySource: 'fd44:2::13' }),
      flow({
        source: 'fd44::7',
        destination: 'fd20::11',
        destinationPort: 30_080,
        id: 2,
        replySource: 'fd44:2::13',
      }),
    ];
    const port = { clusterIP: 'fd00:96::20', nodePort: 30_080 };
    const rows = rowsOf({ port, node: exampleNode6(), second });
    assert.deepEqual(
      rows.map(({ ip, port, tracked }) => [ip, port, tracked]),
      [['fd44:2::13', 9376, 2]],
    );
  });
});

describe('createFlowCounter() sets of endpoints', () => {
  const outside = { source: '198.51.100.9', destination: '192.0.2.7' };
  const external = { externalIPs: ['192.0.2.7'], externalPolicy: 'Local' } as const;
  const byInterface = exampleNode({ localTraffic: { kind: 'interface', name: 'cni0' } });
  const cases: readonly (readonly [string, Setup, string])[] = [
    ['internal policy Cluster', { second: [flow()] }, 'cluster'],
    ['internal policy Local', { port: { internalPolicy: 'Local' }, second: [flow()] }, 'local'],
    ['external policy Local, from outside', { port: external, second: [flow(outside)] }, 'local'],
    [
      'external policy Local, from a pod',
      { port: external, second: [flow({ destination: '192.0.2.7' })] },
      'cluster',
    ],
    [
      'external policy Local, from the node',
      { port: external, second: [flow({ ...outside, source: '10.20.0.11' })] },
      'cluster',
    ],
    ['external policy Local to the cluster IP', { port: external, second: [flow()] }, 'cluster'],
    [
      'pods by interface, from elsewhere',
      { port: external, node: byInterface, second: [flow(outside)] },
      'unknown',
    ],
    ['pods by interface, policy Cluster', { node: byInterface, second: [flow()] }, 'cluster'],
  ];
  for (const [title, setup, expected] of cases) {
    it(title, () =>
      assert.deepEqual(
        rowsOf(setup).map(({ set }) => set),
        [expected],
      ),
    );
  }
});

describe('createFlowCounter() between two listings', () => {
  const a = flow({ id: 1, sourcePort: 1, bytes: [100, 1000] });
  const b = flow({ id: 2, sourcePort: 2, bytes: [10, 20] });
  const totals = (setup: Setup) => {
    const [row] = rowsOf(setup);
    return [row?.opened, row?.bytesIn, row?.bytesOut];
  };
  it('counts what is new, and the bytes that were added', () => {
    const later = { ...a, bytes: [150, 1900] } as const;
    assert.deepEqual(totals({ first: [a], second: [later, b] }), [1, 60, 920]);
  });
  it('leaves out connections that vanished', () => {
    assert.deepEqual(totals({ first: [a, b], second: [b] }), [0, 0, 0]);
  });
  it('counts an entry that is listed twice once', () => {
    const { rows } = countAll({ first: [], second: [a, b, a] });
    assert.deepEqual([rows[0]?.tracked, rows[0]?.opened, rows[0]?.bytesIn], [2, 2, 110]);
  });
  it('takes an entry with fewer bytes for a new connection', () => {
    assert.deepEqual(totals({ first: [a], second: [{ ...a, bytes: [5, 7] }] }), [1, 5, 7]);
  });
  it('tells connections with one id apart by their clients', () => {
    assert.deepEqual(totals({ first: [a], second: [a, { ...b, id: 1 }] }), [1, 10, 20]);
  });
  it('says which connections have no bytes', () => {
    const { bytes: _, ...uncounted } = b;
    assert.equal(rowsOf({ second: [a, uncounted] })[0]?.uncounted, 1);
  });
  it('names the connections with the most bytes', () => {
    const second = [3, 9, 1, 7].map((bytes, id) => flow({ id, sourcePort: id, bytes: [bytes, 0] }));
    assert.deepEqual(rowsOf({ second })[0]?.busiest, [
      { client: '10.244.1.7:1', bytes: 9 },
      { client: '10.244.1.7:3', bytes: 7 },
      { client: '10.244.1.7:0', bytes: 3 },
    ]);
  });
});

describe('createFlowCounter() limits', () => {
  it('counts connections beyond its room as open, and says that rates are partial', () => {
    const second = [1, 2, 3].map((id) => flow({ id, sourcePort: id, bytes: [10, 0] }));
    const { rows, isPartial } = countAll({ second, limit: 2 });
    assert.deepEqual([rows[0]?.open, rows[0]?.opened, rows[0]?.bytesIn], [3, 2, 20]);
    assert.equal(isPartial, true);
  });
  it('counts clients up to a limit', () => {
    const second = Array.from({ length: maxClients + 5 }, (_, n) =>
      flow({ id: n, source: `10.244.${n >> 8}.${n & 255}` }),
    );
    assert.equal(rowsOf({ second })[0]?.clients, maxClients);
  });
  it('takes a million connections in bounded memory', () => {
    const targets = makeTargets([]);
    addTarget(targets, exampleServicePort(), exampleNode());
    const counter = createFlowCounter(targets);
    const record = createFlowRecord();
    const batch = 64;
    const flows = Array.from({ length: batch }, () => flow({ bytes: [1, 2] }));
    const datagram = exampleFlowDatagram(flows);
    const idOffsets = [...datagram.keys()].filter(
      (at) =>
        datagram.readUInt16LE(Math.min(at, datagram.length - 2)) === 8 &&
        datagram.readUInt16LE(Math.min(at + 2, datagram.length - 2)) === 12,
    );
    assert.equal(idOffsets.length, batch);
    const list = (visit: typeof counter.first): void => {
      for (let from = 0; from < maxFlows; from += batch) {
        for (const [at, offset] of idOffsets.entries())
          datagram.writeUInt32BE(from + at, offset + 4);
        readFlowRecords(datagram, record, visit);
      }
    };
    const before = process.memoryUsage().arrayBuffers;
    list(counter.first);
    list(counter.second);
    const { rows, isPartial } = counter.counts();
    assert.deepEqual([rows.length, rows[0]?.tracked, rows[0]?.opened], [1, maxFlows, 0]);
    assert.equal(isPartial, false);
    // Two copies while it grows for the last time.
    assert.ok(process.memoryUsage().arrayBuffers - before < 100 * 1024 * 1024);
  });
});
