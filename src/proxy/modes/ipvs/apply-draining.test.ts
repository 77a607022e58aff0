import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFakeClock } from '../../../host/fake-clock.ts';
import type { ListedDestination } from '../../../host/netlink/ipvs.ts';
import { silentLog } from '../../../observe/log.ts';
import { startDraining } from './apply-draining.ts';

const service = { address: '10.96.0.20', protocol: 'TCP', port: 80 } as const;
const minuteMs = 60_000;

/** One virtual server as the kernel would list it; the kernels of build machines have none. */
function lab(listed: Map<string, Partial<ListedDestination>>) {
  const clock = createFakeClock();
  const destinations = (): ListedDestination[] =>
    [...listed].map(([address, parts]) => ({
      ...{ address, port: 80, weight: 0, activeConnections: 0, inactiveConnections: 0 },
      ...parts,
    }));
  const draining = startDraining({
    ipvs: {
      listDestinations: async () => destinations(),
      deleteDestination: async (_, { address }) => void listed.delete(address),
    },
    clock,
    log: silentLog,
    exclusive: (work) => work(),
  });
  return { clock, draining, listed };
}

describe('startDraining()', () => {
  it('deletes a real server at the first check without connections (IVS-07)', async () => {
    const { clock, draining, listed } = lab(
      new Map([
        ['10.0.0.1', { activeConnections: 1 }],
        ['10.0.0.2', { weight: 1 }],
      ]),
    );
    draining.add(service, { address: '10.0.0.1', port: 80 });
    await clock.advance(minuteMs);
    assert.deepEqual([...listed.keys()], ['10.0.0.1', '10.0.0.2']);
    listed.set('10.0.0.1', { inactiveConnections: 1 });
    await clock.advance(minuteMs);
    assert.deepEqual([...listed.keys()], ['10.0.0.1', '10.0.0.2']);
    listed.set('10.0.0.1', {});
    await clock.advance(minuteMs);
    assert.deepEqual([...listed.keys()], ['10.0.0.2']);
    assert.equal(clock.waiting(), 0);
  });

  it('leaves one alone that is wanted again', async () => {
    const { clock, draining, listed } = lab(new Map([['10.0.0.1', { weight: 1 }]]));
    draining.add(service, { address: '10.0.0.1', port: 80 });
    draining.cancel(service, { address: '10.0.0.1', port: 80 });
    await clock.advance(minuteMs);
    assert.deepEqual([...listed.keys()], ['10.0.0.1']);
  });

  it('takes over what an earlier process left, and nothing that is wanted', async () => {
    const { clock, draining, listed } = lab(
      new Map([
        ['10.0.0.1', {}],
        ['10.0.0.2', {}],
      ]),
    );
    const realServer = (address: string) =>
      [`${address} 80`, { address, port: 80, weight: 0 }] as const;
    const server = { ...service, scheduler: 'rr' };
    const key = '10.96.0.20 tcp 80';
    const found = new Map([realServer('10.0.0.1'), realServer('10.0.0.2')]);
    const wanted = new Map([realServer('10.0.0.2')]);
    draining.adopt(
      new Map([[key, { service: server, realServers: found }]]),
      new Map([[key, { service: server, realServers: wanted }]]),
    );
    await clock.advance(minuteMs);
    assert.deepEqual([...listed.keys()], ['10.0.0.2']);
  });
});
