// The longest time for which this thread blocked its event loop, in CPU time, so that other programs on the machine do
// not count.
import koffi from 'koffi';

export type MainThreadMeter = {
  /** Since the last call, in milliseconds. */
  readonly maxMs: () => number;
  readonly stop: () => void;
};

const threadOnly = 1;

export function measureMainThread(): MainThreadMeter {
  const getrusage = koffi.load(null).func('int getrusage(int who, void *usage)');
  const usage = Buffer.alloc(144);
  const cpuMs = (): number => {
    getrusage(threadOnly, usage);
    const seconds = Number(usage.readBigInt64LE(0)) + Number(usage.readBigInt64LE(16));
    const micros = Number(usage.readBigInt64LE(8)) + Number(usage.readBigInt64LE(24));
    return seconds * 1000 + micros / 1000;
  };
  let longest = 0;
  let last = cpuMs();
  let isStopped = false;
  const check = (): void => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isStopped) setImmediate(check);
  };
  setImmediate(check);
  return {
    maxMs() {
      const result = longest;
      longest = 0;
      last = cpuMs();
      return result;
    },
    stop() {
      isStopped = true;
    },
  };
}
