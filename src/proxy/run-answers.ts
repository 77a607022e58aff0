// Answers questions of the API server about the rules of this proxy, and the traffic that they carry.
import type { ApiCaller } from '../client/api-call.ts';
import { answerQuestions, answerTo } from '../client/parts/answer-questions.ts';
import type { Clock } from '../host/clock.ts';
import { partOn } from '../kinds/part/names.ts';
import { positionQuestion } from '../kinds/part/position.ts';
import { trafficQuestion } from '../kinds/part/traffic.ts';
import { unroutedQuestion } from '../kinds/part/unrouted.ts';
import type { Log } from '../observe/log.ts';
import type { EffectiveRules } from './effective-rules.ts';
import type { Family } from './model/state.ts';
import type { Mode, RunningMode } from './modes/mode.ts';
import { readFlows } from './traffic/read-flows.ts';
import type { FamilyRelayed } from './traffic/relayed.ts';
import { createTrafficMeter, type TrafficMeter } from './traffic/run-meter.ts';

export type ProxyAnswersOptions = {
  readonly caller: ApiCaller;
  readonly nodeName: string;
  readonly mode: Mode;
  /** At work; empty before the first write. */
  readonly running: () => readonly RunningFamily[];
  readonly rules: EffectiveRules;
  /** All addresses of this machine. */
  readonly nodeAddresses: () => Iterable<string>;
  readonly clock: Clock;
  readonly log: Log;
};

export type RunningFamily = { readonly family: Family; readonly mode: RunningMode };

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
  let meter: TrafficMeter | undefined;
  const handlers = [
    answerTo(positionQuestion, (requested) => ({ ...rules.position(requested), mode: mode.name })),
    answerTo(unroutedQuestion, (spec, cancelled) => {
      const confirmation = rules.unrouted(spec, cancelled);
      checkSoon();
      return confirmation;
    }),
    answerTo(trafficQuestion, (request) => {
      meter ??= startMeter(options, signal);
      return meter.measure(request);
    }),
  ];
  return answerQuestions({ caller, part: partOn('proxy', nodeName), handlers, clock, log }, signal);
}

function startMeter(options: ProxyAnswersOptions, signal: AbortSignal): TrafficMeter {
  const { mode, running, rules, nodeAddresses, clock } = options;
  const relayed = async (): Promise<readonly FamilyRelayed[]> => {
    const lists = await Promise.all(
      running().map(async ({ family, mode }) =>
        ((await mode.relayed?.()) ?? []).map((one) => ({ ...one, family })),
      ),
    );
    return lists.flat();
  };
  const { relayedProtocols } = mode.traits;
  return createTrafficMeter(
    {
      ...{ clock, mode: mode.name, states: rules.states, nodeAddresses },
      scheduler: () => running().find(({ mode }) => mode.scheduler)?.mode.scheduler,
      ...{ relayedProtocols, relayed, readFlows },
    },
    signal,
  );
}
