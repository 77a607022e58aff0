// Answers from the upstream cache.
import type { Handler, Question } from '../question.ts';
import type { UpstreamCache } from './upstream-cache.ts';

export function createCacheHandler(
  cache: UpstreamCache,
  refresh: (question: Question) => void,
  now: () => number,
): Handler {
  return {
    name: 'cache',
    answer(question) {
      const hit = cache.get(question, now());
      if (hit?.shouldPrefetch) refresh(question);
      return hit?.answer;
    },
  };
}
