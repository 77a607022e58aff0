// Answers questions of the API server about the rules of this proxy.
import type { ApiCaller } from '../client/api-call.ts';
import { answerQuestions, answerTo } from '../client/parts/answer-questions.ts';
import type { Clock } from '../host/clock.ts';
import { partOn } from '../kinds/part/names.ts';
import { positionQuestion } from '../kinds/part/position.ts';
import { unroutedQuestion } from '../kinds/part/unrouted.ts';
import type { Log } from '../observe/log.ts';
import type { EffectiveRules } from './effective-rules.ts';

export type ProxyAnswersOptions = {
  readonly caller: ApiCaller;
  readonly nodeName: string;
  readonly mode: string;
  readonly rules: EffectiveRules;
  readonly clock: Clock;
  readonly log: Log;
};

/** How often it is checked what is waited for, while there is something. */
const recheckMs = 250;

export function runProxyAnswers(options: ProxyAnswersOptions, signal: AbortSignal): Promise<void> {
  const { caller, nodeName, mode, rules, clock, log } = options;
  let isChecking = false;
  const checkSoon = (): void => {
    if (isChecking || !rules.isWaitedFor() || signal.aborted) return;
    isChecking = true;
    clock.after(recheckMs, () => {
      isChecking = false;
      rules.recheck();
      checkSoon();
    });
  };
  const handlers = [
    answerTo(positionQuestion, (requested) => ({ ...rules.position(requested), mode })),
    answerTo(unroutedQuestion, (spec, cancelled) => {
      const confirmation = rules.unrouted(spec, cancelled);
      checkSoon();
      return confirmation;
    }),
  ];
  return answerQuestions({ caller, part: partOn('proxy', nodeName), handlers, clock, log }, signal);
}
