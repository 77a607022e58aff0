// A way to the server that fails now and then, as a seed says: requests that never arrive, answers that are lost,
// conflicts, errors of the server, watches that are cut.
import { failureAnswer } from '../../../src/client/example.ts';
import type {
  Transport,
  TransportRequest,
  TransportResponse,
} from '../../../src/client/transport.ts';
import type { Random } from './random.ts';

export type FaultyTransport = {
  readonly transport: Transport;
  /** From now on everything works. */
  readonly heal: () => void;
  /** As if the process were gone: nothing gets through any more, and nothing comes back. */
  readonly kill: () => void;
  readonly faults: () => number;
};

/** One in so many requests goes wrong, and one in so many pieces of a watch is its last. */
const oneIn = 8;
const oneInPieces = 25;

export function createFaultyTransport(send: Transport['send'], random: Random): FaultyTransport {
  const state = { isFaulty: true, isDead: false, faults: 0 };
  const goesWrong = (chance: number): boolean => {
    const isHit = state.isFaulty && random.below(chance) === 0;
    if (isHit) state.faults += 1;
    return isHit;
  };
  const refuseDead = (): void => {
    if (state.isDead) throw new Error('socket hang up');
  };
  return {
    transport: {
      async send(request) {
        refuseDead();
        if (!goesWrong(oneIn)) {
          const answer = await send(request);
          refuseDead();
          return { ...answer, body: cut(answer.body, () => goesWrong(oneInPieces), refuseDead) };
        }
        return fail(request, send, random);
      },
      close: () => Promise.resolve(),
    },
    heal: () => {
      state.isFaulty = false;
    },
    kill: () => {
      state.isDead = true;
    },
    faults: () => state.faults,
  };
}

async function fail(
  request: TransportRequest,
  send: Transport['send'],
  random: Random,
): Promise<TransportResponse> {
  switch (random.below(4)) {
    case 0:
      return failureAnswer(500, 'InternalError');
    case 1:
      if (request.method === 'PUT' || request.method === 'PATCH') {
        return failureAnswer(409, 'Conflict');
      }
      return failureAnswer(429, 'TooManyRequests');
    case 2:
      throw new Error('connect ECONNREFUSED');
    default:
      // The request was carried out, but the response is lost.
      await send(request);
      throw new Error('socket hang up');
  }
}

async function* cut(
  body: AsyncIterable<Uint8Array>,
  isLast: () => boolean,
  refuseDead: () => void,
): AsyncIterable<Uint8Array> {
  let pieces = 0;
  for await (const piece of body) {
    refuseDead();
    pieces += 1;
    // An answer that comes in one piece arrives whole or not at all.
    if (pieces > 1 && isLast()) throw new Error('socket hang up');
    yield piece;
  }
}
