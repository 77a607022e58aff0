// Lets a pod's work sleep until something happens, or a time comes.
import type { NodeParts } from '../node-parts.ts';

export type WakeUp = ReturnType<typeof createWakeUp>;

/** Remembers that it was woken while nobody waited. */
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
