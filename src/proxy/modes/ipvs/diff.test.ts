import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exampleNode, exampleServicePort, exampleState } from '../../model/example-state.ts';
import { createRandom, randomState } from '../../model/random-state.ts';
import type { Endpoint, ServicePort } from '../../model/state.ts';
import { type Contents, contentsOf, emptyContents, serverText } from './contents.ts';
import { desiredForPort } from './desired.ts';
import { type Difference, diff } from './diff.ts';
import { createRequests } from './requests.ts';

const endpoint = (last: number): Endpoint => ({ ip: `10.244.1.${last}`, port: 80, isLocal: true });

function contents(parts: Partial<ServicePort>, node = exampleNode()): Contents {
  return contentsOf(desiredForPort(exampleServicePort(parts), node, 'rr'));
}

/** Changes of servers, in words. */
function changes({ newServers, oldServers }: Difference): readonly string[] {
  return [...newServers, ...oldServers].map((change) =>
    'realServer' in change ? `${change.kind} ${serverText(change.realServer)}` : change.kind,
  );
}

describe('diff()', () => {
  it('has nothing to do where all is there', () => {
    const all = contents({ nodePort: 30080, externalPolicy: 'Local', affinitySeconds: 5 });
    const difference = diff(all, all);
    assert.equal(difference.changes, 0);
    assert.deepEqual(changes(difference), []);
  });

  it('lets TCP connections of a removed endpoint end, after its successor is there (IVS-07)', () => {
    const difference = diff(
      contents({ clusterEndpoints: [endpoint(1), endpoint(2)] }),
      contents({ clusterEndpoints: [endpoint(2), endpoint(3)] }),
    );
    assert.deepEqual(changes(difference), [
      'add-real-server 10.244.1.3 80',
      'drain-real-server 10.244.1.1 80',
    ]);
  });

  for (const protocol of ['UDP', 'SCTP'] as const) {
    it(`removes endpoints of ${protocol} at once (IVS-07)`, () => {
      const difference = diff(
        contents({ protocol, clusterEndpoints: [endpoint(1), endpoint(2)] }),
        contents({ protocol, clusterEndpoints: [endpoint(2)] }),
      );
      assert.deepEqual(changes(difference), ['delete-real-server 10.244.1.1 80']);
    });
  }

  it('takes an endpoint back that was leaving, and leaves one alone that leaves already', () => {
    const wanted = contents({ clusterEndpoints: [endpoint(1)] });
    const found = contents({ clusterEndpoints: [endpoint(1), endpoint(2)] });
    const [[key, server]] = [...found.servers] as [
      [string, Contents['servers'] extends ReadonlyMap<string, infer One> ? One : never],
    ];
    const leaving = new Map(
      [...server.realServers].map(([text, one]) => [text, { ...one, weight: 0 }]),
    );
    const servers = new Map([[key, { ...server, realServers: leaving }]]);
    assert.deepEqual(changes(diff({ ...found, servers }, wanted)), [
      'add-real-server 10.244.1.1 80',
    ]);
  });

  it('changes a server whose affinity changes, without touching its endpoints (IVS-04)', () => {
    const difference = diff(contents({}), contents({ affinitySeconds: 60 }));
    assert.deepEqual(changes(difference), ['change-server']);
  });

  it('removes a server with all that belongs to it, addresses before it', () => {
    const difference = diff(contents({}), emptyContents);
    assert.deepEqual(changes(difference), ['delete-server']);
    assert.deepEqual(difference.oldAddresses, ['10.96.0.20']);
    assert.deepEqual(difference.newElements, []);
    assert.ok(difference.oldElements.every(({ kind }) => kind === 'delete-elements'));
  });

  it('writes a new chain before anything leads to it, and replaces a verdict at once', () => {
    const local = { externalIPs: ['203.0.113.1'], externalPolicy: 'Local' } as const;
    const difference = diff(
      contents({ ...local, clusterEndpoints: [endpoint(1), endpoint(2)] }),
      contents({ ...local, clusterEndpoints: [endpoint(1), endpoint(2), endpoint(3)] }),
    );
    assert.deepEqual(difference.newChains[0], {
      kind: 'add-chain',
      chain: { name: 'choose-3' },
    });
    const verdicts = difference.newElements.filter(
      (one) => 'set' in one && typeof one.set !== 'string' && one.set.name === 'short-circuits',
    );
    assert.deepEqual(
      verdicts.map(({ kind }) => kind),
      ['delete-elements', 'add-elements'],
    );
  });
});

describe('createRequests()', () => {
  const address = exampleServicePort({ externalIPs: ['10.20.0.11'], port: 30080 });
  const nodePort = exampleServicePort({ name: 'other', clusterIP: '10.96.0.21', nodePort: 30080 });
  const node = exampleNode();
  const key = 'server 10.20.0.11 tcp 30080';

  it('prefers an address of a Service to a node port, whichever came first', () => {
    for (const ports of [
      [address, nodePort],
      [nodePort, address],
    ]) {
      const requests = createRequests();
      for (const port of ports) requests.set(port.key, desiredForPort(port, node, 'rr'));
      const there = [...requests.items()].filter((item) => item.key === key);
      assert.deepEqual(
        there.map(({ rank }) => rank),
        [0],
      );
      requests.takeChanges();
      requests.set(address.key, []);
      const { before, after } = requests.takeChanges();
      assert.equal(before.find((item) => item.key === key)?.rank, 0);
      assert.equal(after.find((item) => item.key === key)?.rank, 1);
    }
  });

  it('keeps an address as long as one port wants it', () => {
    const second = { ...address, key: 'default/web:b/TCP', port: 81, externalIPs: [] };
    const requests = createRequests();
    for (const port of [address, second]) {
      requests.set(port.key, desiredForPort(port, node, 'rr'));
    }
    requests.takeChanges();
    requests.set(address.key, []);
    const { before, after } = requests.takeChanges();
    const { oldAddresses } = diff(contentsOf(before), contentsOf(after));
    assert.deepEqual(oldAddresses, []);
  });

  it('ends after changes one by one where it is when all come at once (KPX-43)', () => {
    for (let seed = 0; seed < 50; seed += 1) {
      const random = createRandom(seed);
      const first = randomState(random, { family: 'IPv4' });
      const second = randomState(random, { family: 'IPv4' });
      const state = exampleState([...second.ports.values()], first.node);
      const grown = createRequests();
      for (const port of first.ports.values()) {
        grown.set(port.key, desiredForPort(port, first.node, 'rr'));
      }
      for (const key of new Set([...first.ports.keys(), ...second.ports.keys()])) {
        const port = state.ports.get(key);
        grown.set(key, port === undefined ? [] : desiredForPort(port, first.node, 'rr'));
      }
      const fresh = createRequests();
      for (const port of state.ports.values()) {
        fresh.set(port.key, desiredForPort(port, first.node, 'rr'));
      }
      const difference = diff(contentsOf(grown.items()), contentsOf(fresh.items()));
      assert.equal(difference.changes, 0, `seed ${seed}`);
    }
  });
});
