// The plugin chain: handlers are tried in order; each answers the question or passes it to the next.

import type { HandlerName } from './counters.ts';
import { createAutopath } from './handlers/autopath.ts';
import { createCacheHandler } from './handlers/cache.ts';
import { createClusterHandler } from './handlers/cluster.ts';
import { refuseOtherClasses, refuseUnauthorized } from './handlers/refuse.ts';
import type { ChainParts } from './parts.ts';
import type { Found, Handler, Lookup, Question, Reply } from './question.ts';
import { emptyAnswer } from './wire/answer.ts';
import { rcodes } from './wire/record-types.ts';

export function createChain(parts: ChainParts): Lookup {
  const lookup: Lookup = (question) => ask(chain, question);
  const chain: readonly Handler[] = [
    refuseOtherClasses,
    ...(parts.autopath === undefined ? [] : [createAutopath(parts.autopath, parts.zone, lookup)]),
    createClusterHandler(parts, lookup),
    refuseUnauthorized(parts.allow),
    parts.loop,
    createCacheHandler(parts.cache, parts.upstream.refresh, parts.now),
    { name: 'forward', answer: parts.upstream.answer },
  ];
  return lookup;
}

/** Synchronous as long as the handlers are: most answers need no promise. */
function ask(chain: readonly Handler[], question: Question, from = 0): Reply | Promise<Reply> {
  for (let index = from; index < chain.length; index += 1) {
    const handler = chain[index];
    if (handler === undefined) break;
    const found = handler.answer(question);
    if (found instanceof Promise) {
      return found.then(
        (answer) => settled(answer, handler.name) ?? ask(chain, question, index + 1),
      );
    }
    const reply = settled(found, handler.name);
    if (reply !== undefined) return reply;
  }
  return { answer: emptyAnswer(rcodes.SERVFAIL), by: '' };
}

function settled(answer: Found, by: HandlerName): Reply | undefined {
  return answer === undefined ? undefined : { answer, by };
}
