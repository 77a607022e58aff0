// Time that passes quicker than outside. The emulator answers over real sockets, so time can not be moved by hand; but nobody has to
// wait for whole back-offs either.
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
