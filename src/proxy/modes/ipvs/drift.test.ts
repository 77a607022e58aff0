import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exampleServicePort, exampleState } from '../../model/example-state.ts';
import type { Endpoint } from '../../model/state.ts';
import { driftOf, wantedServers } from './drift.ts';

const endpoint = (last: number): Endpoint => ({
  ...{ ip: `10.244.2.${last}`, port: 9376, isLocal: false },
});
const serversOf = (...endpoints: readonly Endpoint[]) =>
  wantedServers(exampleState([exampleServicePort({ clusterEndpoints: endpoints })]), 'rr');
const wanted = serversOf(endpoint(1), endpoint(2));
const [key = ''] = wanted.keys();

describe('driftOf()', () => {
  it('finds none where all is there', () => {
    assert.deepEqual(driftOf(wanted, wanted), { missing: [], stale: [] });
  });

  it('shows real servers that are missing, and those that are no more', () => {
    assert.deepEqual(driftOf(serversOf(endpoint(1), endpoint(7)), wanted), {
      missing: [`real server 10.244.2.2 9376 of virtual server ${key}`],
      stale: [`real server 10.244.2.7 9376 of virtual server ${key}`],
    });
  });

  it('does not count endpoints that only finish what they have', () => {
    const found = new Map(serversOf(endpoint(1), endpoint(2), endpoint(7)));
    const server = found.get(key);
    assert.ok(server !== undefined);
    const realServers = new Map(server.realServers);
    realServers.set('10.244.2.7 9376', { ...endpoint(7), address: '10.244.2.7', weight: 0 });
    found.set(key, { ...server, realServers });
    assert.deepEqual(driftOf(found, wanted), { missing: [], stale: [] });
  });

  it('shows virtual servers that are missing, with all behind them', () => {
    const { missing } = driftOf(new Map(), wanted);
    assert.deepEqual(missing, [
      `virtual server ${key}`,
      `real server 10.244.2.1 9376 of virtual server ${key}`,
      `real server 10.244.2.2 9376 of virtual server ${key}`,
    ]);
  });
});
