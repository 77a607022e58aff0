// One question to all parts of the cluster: waits until each has answered or is gone, at most for the given time.
import type { PartAnswer, QuestionKind } from '../../kinds/part/question.ts';
import type { PartsChannel } from './channel.ts';
import type { Peers } from './peers.ts';

export type Reach = { readonly channel: PartsChannel; readonly peers: Peers };

export type CollectOptions = {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Waits for further parts until this holds, but not longer than the patience. */
  readonly isEnough?: (answers: readonly PartAnswer[]) => boolean;
  readonly patienceMs?: number;
};

export async function collectAnswers<Spec, Reply>(
  { channel, peers }: Reach,
  kind: QuestionKind<Spec, Reply>,
  spec: Spec,
  { timeoutMs, signal, isEnough = () => true, patienceMs = 0 }: CollectOptions,
): Promise<readonly PartAnswer[]> {
  let changed = (): void => {};
  const timers: NodeJS.Timeout[] = [];
  const ended = new AbortController();
  const question = channel.open(kind, spec, () => changed());
  const others: PartAnswer[] = [];
  const answers = (): readonly PartAnswer[] => [...question.answers(), ...others];
  let isPatient = patienceMs > 0;
  let isWaitingForPeers = false;
  try {
    await new Promise<void>((resolve) => {
      changed = () => {
        const isComplete = question.pending() === 0 && !isWaitingForPeers;
        if (isComplete && (!isPatient || isEnough(answers()))) resolve();
      };
      const until = AbortSignal.any([signal, ended.signal]);
      const ofPeers = peers.collect({ kind, spec, timeoutMs, signal: until });
      isWaitingForPeers = ofPeers !== undefined;
      void ofPeers?.then((list) => {
        others.push(...list);
        isWaitingForPeers = false;
        changed();
      });
      const endPatience = (): void => {
        isPatient = false;
        changed();
      };
      timers.push(setTimeout(endPatience, patienceMs), setTimeout(resolve, timeoutMs));
      signal.addEventListener('abort', () => resolve(), { once: true });
      if (signal.aborted) resolve();
      changed();
    });
    return answers();
  } finally {
    for (const timer of timers) clearTimeout(timer);
    question.close();
    ended.abort();
  }
}
