// Asks every upstream server for a name that nobody has, and sees whether the question comes back here.
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
  /** Called for a server that leads back here. */
  readonly found: (server: ServerAddress) => void;
};

/** Long enough for a question to go through a few servers. */
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
  // What the server says does not matter here, nor whether it says anything.
  await exchangeUdp(exchange).then(forget, forget);
}
