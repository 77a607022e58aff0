import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFakeClock } from '../../../host/fake-clock.ts';
import type { IpvsProtocol, VirtualService } from '../../../host/netlink/ipvs.ts';
import { silentLog } from '../../../observe/log.ts';
import { startDraining } from './apply-draining.ts';
import { applyServerChanges } from './apply-servers.ts';
import type { ServerContents } from './contents.ts';
import { diffServer } from './diff.ts';

const minuteMs = 60_000;
const serviceOf = (protocol: IpvsProtocol): VirtualService => ({
  ...{ address: '10.96.0.20', protocol, port: 80, scheduler: 'rr' },
});

/** One virtual server as the kernel would keep it, with its real servers' weights; the kernels of build machines have none. */
function lab(weights: Map<string, number>) {
  const calls: string[] = [];
  const clock = createFakeClock();
  const refuse = (code: string): never => {
    throw Object.assign(new Error(`Cannot change a virtual server: ${code}`), { code });
  };
  const ipvs = {
    addService: async () => refuse('EEXIST'),
    changeService: async ({ scheduler }: VirtualService) => void calls.push(`now ${scheduler}`),
    deleteService: async () => weights.clear(),
    listDestinations: async () =>
      [...weights].map(([address, weight]) => ({
        ...{ address, port: 80, weight, activeConnections: 0, inactiveConnections: 0 },
      })),
    addDestination: async (_: unknown, { address, weight }: Weighed) => {
      if (weights.has(address)) refuse('EEXIST');
      calls.push(`add ${address}`);
      weights.set(address, weight);
    },
    changeDestination: async (_: unknown, { address, weight }: Weighed) => {
      if (!weights.has(address)) refuse('ENOENT');
      if (weights.get(address) !== weight) calls.push(`weigh ${address} ${weight}`);
      weights.set(address, weight);
    },
    deleteDestination: async (_: unknown, { address }: Pick<Weighed, 'address'>) => {
      if (!weights.delete(address)) refuse('ENOENT');
      calls.push(`delete ${address}`);
    },
  };
  const draining = startDraining({ ipvs, clock, log: silentLog, exclusive: (work) => work() });
  return { servers: { ipvs, draining }, clock, calls };
}
type Weighed = { readonly address: string; readonly weight: number };

function wanted(protocol: IpvsProtocol, ...addresses: readonly string[]): ServerContents {
  const realServers = addresses.map(
    (address) => [`${address} 80`, { address, port: 80, weight: 1 }] as const,
  );
  return { service: serviceOf(protocol), realServers: new Map(realServers) };
}

describe('applyServerChanges()', () => {
  it('drains previous real servers of a virtual server that exists already (IVS-07)', async () => {
    const weights = new Map([
      ['10.0.0.1', 1],
      ['10.0.0.2', 0],
      ['10.0.0.3', 0],
      ['10.0.0.4', 1],
    ]);
    const { servers, clock, calls } = lab(weights);
    const after = wanted('TCP', '10.0.0.3', '10.0.0.4', '10.0.0.5');
    await applyServerChanges(servers, diffServer(undefined, after).come);
    assert.deepEqual(calls.splice(0), [
      'now rr',
      'weigh 10.0.0.3 1',
      'add 10.0.0.5',
      'weigh 10.0.0.1 0',
    ]);
    await clock.advance(minuteMs);
    assert.deepEqual(calls, ['delete 10.0.0.1', 'delete 10.0.0.2']);
    assert.deepEqual([...weights.keys()], ['10.0.0.3', '10.0.0.4', '10.0.0.5']);
  });

  it('deletes those of UDP at once, after the new ones are there (IVS-07)', async () => {
    const { servers, calls } = lab(new Map([['10.0.0.1', 1]]));
    await applyServerChanges(servers, diffServer(undefined, wanted('UDP', '10.0.0.2')).come);
    assert.deepEqual(calls, ['now rr', 'add 10.0.0.2', 'delete 10.0.0.1']);
  });
});
