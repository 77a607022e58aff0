import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFakeClock } from '../../host/fake-clock.ts';
import { exampleServicePort, exampleState, localEndpoint } from '../model/example-state.ts';
import type { ProxyState } from '../model/state.ts';
import type { FlowCount } from './count-flows.ts';
import type { ReadFlowsOptions } from './read-flows.ts';
import type { FamilyRelayed } from './relayed.ts';
import { createTrafficMeter, type MeterOptions } from './run-meter.ts';

const row: FlowCount = {
  ...{ targetPort: 0, set: 'cluster', ip: localEndpoint.ip, port: localEndpoint.port },
  ...{ tracked: 1, open: 1, unanswered: 0, opened: 1, bytesIn: 0, bytesOut: 0 },
  ...{ uncounted: 0, clients: 1, busiest: [] },
};

const all = { intervalMs: 1000, maxRows: 100 };

function start(parts: Partial<MeterOptions> & { readonly listingMs?: number } = {}) {
  const clock = createFakeClock();
  const stop = new AbortController();
  const readings: ReadFlowsOptions[] = [];
  const { listingMs: busyMs = 0 } = parts;
  const states: readonly ProxyState[] = [exampleState([exampleServicePort()])];
  const meter = createTrafficMeter(
    {
      ...{ clock, mode: 'nftables', scheduler: () => undefined },
      states: () => states,
      nodeAddresses: () => ['127.0.0.1'],
      relayedProtocols: [],
      relayed: async () => [],
      readFlows: async (options) => {
        readings.push(options);
        await options.wait();
        return { rows: [row], isPartial: false, isAccounting: true, intervalMs: 1000, busyMs };
      },
      ...parts,
    },
    stop.signal,
  );
  return { clock, meter, readings, stop };
}

describe('createTrafficMeter()', () => {
  it('measures nothing until it is requested', async () => {
    const { clock, readings } = start();
    await clock.advance(60_000);
    assert.equal(readings.length, 0);
    assert.equal(clock.waiting(), 0);
  });
  it('answers all who ask meanwhile with one measurement, and who comes later with the next', async () => {
    const { clock, meter, readings } = start();
    const requested = [meter.measure(all), meter.measure({ ...all, namespace: 'other' })];
    await clock.advance(500);
    requested.push(meter.measure(all));
    await clock.advance(500);
    const [whole, other, meanwhile] = await Promise.all(requested);
    assert.equal(readings.length, 1);
    assert.deepEqual(
      [whole, other, meanwhile].map((one) => one?.ports.length),
      [1, 0, 1],
    );
    const later = [meter.measure(all), meter.measure(all)];
    await clock.advance(999);
    assert.equal(readings.length, 1);
    await clock.advance(1001);
    assert.deepEqual(
      (await Promise.all(later)).map(({ ageMs }) => ageMs),
      [0, 0],
    );
    assert.equal(readings.length, 2);
  });
  it('measures at most every two seconds, and less often when listing takes long', async () => {
    for (const [listingMs, expected] of [
      [0, 10],
      [1000, 2],
    ] as const) {
      const { clock, meter, readings } = start({ listingMs });
      for (let n = 0; n < 1999; n += 1) {
        void meter.measure(all);
        await clock.advance(10);
      }
      assert.equal(readings.length, expected, `${listingMs} ms`);
    }
  });
});

describe('createTrafficMeter() measurements', () => {
  it('fails with the reason, and tries again after the pause', async () => {
    let isBroken = true;
    const { clock, meter } = start({
      readFlows: async () => {
        if (isBroken) throw new Error('Cannot list connections: EPERM');
        return { rows: [], isPartial: false, isAccounting: false, intervalMs: 1, busyMs: 0 };
      },
    });
    await assert.rejects(meter.measure(all), /EPERM/);
    isBroken = false;
    const again = meter.measure(all);
    await clock.advance(1000);
    assert.equal((await again).bytesCounted, 'no');
  });
  it('does not list the kernel for what the mode relays', async () => {
    let opened = 0;
    const relayed = async (): Promise<readonly FamilyRelayed[]> => {
      opened += 3;
      const { key } = exampleServicePort();
      return [
        {
          ...{ family: 'IPv4', portKey: key, set: 'cluster', ip: '10.244.1.11', port: 9376 },
          ...{ open: 0, opened, bytesIn: 0, bytesOut: 0, clients: 0, busiest: [] },
        },
      ];
    };
    const { clock, meter, readings } = start({ relayed, relayedProtocols: ['TCP', 'UDP'] });
    const requested = meter.measure(all);
    await clock.advance(1000);
    const { ports, intervalMs } = await requested;
    assert.equal(readings.length, 0);
    assert.equal(intervalMs, 1000);
    assert.equal(ports[0]?.endpoints[0]?.opened, 3);
  });
  it('answers in a long pause with what was measured before, and says how old that is', async () => {
    const { clock, meter, readings } = start({ listingMs: 1000 });
    const first = meter.measure(all);
    await clock.advance(1000);
    assert.equal((await first).ageMs, 0);
    await clock.advance(5000);
    assert.equal((await meter.measure(all)).ageMs, 5000);
    await clock.advance(2000);
    const last = meter.measure(all);
    await clock.advance(3000);
    assert.deepEqual([(await last).ageMs, readings.length], [0, 2]);
  });
  it('measures for as long as was requested first', async () => {
    const { clock, meter, readings } = start();
    let answered = 0;
    for (const intervalMs of [3000, 1000])
      void meter.measure({ ...all, intervalMs }).then(() => (answered += 1));
    await clock.advance(2999);
    assert.deepEqual([readings.length, answered], [1, 0]);
    await clock.advance(1);
    assert.deepEqual([readings.length, answered], [1, 2]);
  });
  it('answers before the first write with nothing', async () => {
    const { clock, meter } = start({ states: () => [] });
    const requested = meter.measure(all);
    await clock.advance(1000);
    assert.deepEqual((await requested).ports, []);
  });
});
