// Lets the worker of a pod sleep until it is woken, or until a time.
import type { NodeParts } from '../node-parts.ts';

export type WakeUp = ReturnType<typeof createWakeUp>;

/** A wake-up while nothing sleeps makes the next sleep return immediately. */
export function createWakeUp() {
  let isAwake = true;
  let resume = (): void => {};
  return {
    wake(): void {
      isAwake = true;
      resume();
    },
    async sleep(until: number | undefined, { clock }: Pick<NodeParts, 'clock'>): Promise<void> {
      if (!isAwake) {
        await new Promise<void>((resolve) => {
          resume = resolve;
          if (until === undefined) return;
          const cancel = clock.after(Math.max(until - clock.now(), 0), resolve);
          resume = () => {
            cancel();
            resolve();
          };
        });
      }
      isAwake = false;
    },
  };
}
