// A clock that runs faster than real time. The emulator answers over real sockets, so a fake clock cannot be used, and back-offs would take long.
import type { Clock } from '../../src/host/clock.ts';

export function createFastClock(times: number): Clock {
  const startedAt = Date.now();
  const begin = performance.now();
  return {
    now: () => startedAt + (performance.now() - begin) * times,
    after(ms, run) {
      const timer = setTimeout(run, Math.min(ms / times, 2 ** 31 - 1));
      return () => clearTimeout(timer);
    },
  };
}
