// Detects forwarding loops: queries an upstream server for a random name and watches whether the query arrives here.
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../host/clock.ts';
import type { LoopGuard } from '../handlers/loop.ts';
import { joinName, rootName } from '../wire/names.ts';
import { types } from '../wire/record-types.ts';
import { exchangeUdp } from './send-query.ts';
import type { ServerAddress } from './upstream-servers.ts';

export type LoopProbe = {
  readonly guard: LoopGuard;
  readonly clock: Clock;
  /** Called for a server that forwards to this one. */
  readonly found: (server: ServerAddress) => void;
};

/** Long enough for a query to pass through several servers. */
const probeMs = 2000;

export async function probeForLoop(
  { guard, clock, found }: LoopProbe,
  server: ServerAddress,
  signal: AbortSignal,
): Promise<void> {
  const name = joinName([randomBytes(12).toString('hex'), 'loop', 'fairlead'], rootName);
  if (name === undefined) return;
  const forget = guard.expect(name, () => found(server));
  const question = { name, type: types.HINFO, dnssecOk: false, checkingDisabled: false };
  const exchange = { server, question, timeoutMs: probeMs, maxTtl: 0, clock, signal };
  // Only whether the query arrives here matters, not what the server answers.
  await exchangeUdp(exchange).then(forget, forget);
}
