// Answers of others that are at hand.
import type { Handler, Question } from '../question.ts';
import type { AnswerCache } from './answer-cache.ts';

export function createCacheHandler(
  cache: AnswerCache,
  refresh: (question: Question) => void,
  now: () => number,
): Handler {
  return {
    name: 'cache',
    answer(question) {
      const hit = cache.get(question, now());
      if (hit?.isDue) refresh(question);
      return hit?.answer;
    },
  };
}
