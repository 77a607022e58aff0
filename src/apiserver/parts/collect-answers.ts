// One question to all parts of this server: waits until each has answered or is gone, at most for the given time.
import type { PartAnswer, QuestionKind } from '../../kinds/part/question.ts';
import type { PartsChannel } from './channel.ts';

export type CollectOptions = { readonly timeoutMs: number; readonly signal: AbortSignal };

export async function collectAnswers<Spec, Reply>(
  channel: PartsChannel,
  kind: QuestionKind<Spec, Reply>,
  spec: Spec,
  { timeoutMs, signal }: CollectOptions,
): Promise<readonly PartAnswer[]> {
  let changed = (): void => {};
  const question = channel.open(kind, spec, () => changed());
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve) => {
      changed = () => question.pending() === 0 && resolve();
      timer = setTimeout(resolve, timeoutMs);
      signal.addEventListener('abort', () => resolve(), { once: true });
      if (signal.aborted) resolve();
      changed();
    });
    return question.answers();
  } finally {
    clearTimeout(timer);
    question.close();
  }
}
