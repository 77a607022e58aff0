// The least that a UDP server can do: packets go back as they came, marked as answers, through the same sockets that DNS uses.

import { createCounters, makeCounterMemory } from '../../src/dns/counters.ts';
import { startListening } from '../../src/dns/serve.ts';
import { systemClock } from '../../src/host/clock.ts';

const { addresses } = await startListening({
  options: { listen: [{ host: '127.0.0.1', port: 0 }], batches: process.argv[2] === 'batches' },
  answerer: {
    handle(packet, length, out) {
      for (let at = 0; at < length; at += 1) out[at] = packet[at] ?? 0;
      out[2] = (out[2] ?? 0) | 0x80;
      return length;
    },
    pending: () => 0,
    whenIdle: () => {},
    setListener: () => {},
  },
  counters: createCounters(makeCounterMemory()),
  now: () => performance.now(),
  clock: systemClock,
});
process.stdout.write(`echo on 127.0.0.1:${addresses[0]?.port}\n`);
process.once('SIGTERM', () => process.exit());
