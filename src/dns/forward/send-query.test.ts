import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../host/clock.ts';
import { name } from '../wire/example.ts';
import { types } from '../wire/record-types.ts';
import { type Exchange, exchangeTcp, exchangeUdp } from './send-query.ts';

// The kernel refuses to connect to it at once, whatever routes there are, and sends nothing.
const unreachable = '255.255.255.255';

function toNowhere(host: string): Exchange {
  return {
    server: { host, port: 53 },
    question: {
      name: name('www.example.com'),
      type: types.A,
      dnssecOk: false,
      checkingDisabled: false,
    },
    timeoutMs: 60_000,
    maxTtl: 30,
    clock: systemClock,
    signal: new AbortController().signal,
  };
}

for (const [protocol, exchange] of [
  ['UDP', exchangeUdp],
  ['TCP', exchangeTcp],
] as const) {
  test(`a server that the machine has no route to is a failure over ${protocol}`, async () => {
    await assert.rejects(exchange(toNowhere(unreachable)), { syscall: 'connect' });
  });
}
