// The stall watchdog: watches the event loop of the main thread from its own thread, and logs when it is blocked: for how long, by which
// work and with which stack. The inspector interrupts running JavaScript, because V8 handles its requests at loops and calls; within a long
// native call it answers when that returns.
import { readFileSync, writeSync } from 'node:fs';
import { Session } from 'node:inspector';
import { workerData } from 'node:worker_threads';
import { registryName } from '../observe/current-work.ts';
import type { StallWorkerData } from './watch-stalls.ts';

const { beats, thresholdMs } = workerData as StallWorkerData;
const counter = new Int32Array(beats);

/** Several times per threshold, to detect a stall soon after it. */
const checkMs = Math.min(250, Math.ceil(thresholdMs / 4));
/** A check that is this late shows that the whole machine was busy, or suspended. */
const maxOwnDelayMs = thresholdMs / 2;
/** A lasting stall is logged again after this time, with doubling intervals. */
const repeatAfterMs = 10_000;
const maxFrames = 40;
/** Between two microtasks the stack is empty: sample again, at most this often. */
const maxSamples = 50;
const sampleEveryMs = 5;

type Stall = { readonly since: Scheduled; nextReportMs: number };

let lastCount = -1;
let lastChange = performance.now();
let lastCheck = lastChange;
let atChange = mainThread();
let stall: Stall | undefined;

setInterval(check, checkMs);

function check(): void {
  const now = performance.now();
  const ownDelay = now - lastCheck - checkMs;
  lastCheck = now;
  const count = Atomics.load(counter, 0);
  if (count !== lastCount) {
    if (stall !== undefined) reportEnd(now - lastChange, stall);
    stall = undefined;
    lastCount = count;
    lastChange = now;
    atChange = mainThread();
    return;
  }
  // Ignore time in which this thread did not run either.
  if (ownDelay > maxOwnDelayMs && stall === undefined) lastChange += ownDelay;
  // Ignore time in which the main thread was runnable but waited for a CPU.
  const blockedMs = now - lastChange - (mainThread().delayedMs - atChange.delayedMs);
  if (blockedMs < (stall?.nextReportMs ?? thresholdMs)) return;
  stall = {
    since: atChange,
    nextReportMs: stall === undefined ? repeatAfterMs : stall.nextReportMs * 2,
  };
  report(now, stall);
}

/** Logs once the main thread has returned its stack, or has not for as long as the threshold. */
function report(now: number, { since }: Stall): void {
  let isWritten = false;
  const blockedSince = lastChange;
  const write = (found: Found): void => {
    if (isWritten) return;
    isWritten = true;
    writeLine('Event loop is blocked', {
      blockedSeconds: seconds(now - blockedSince),
      cpuSeconds: seconds(mainThread().cpuMs - since.cpuMs),
      ...found,
    });
  };
  const unanswered = setTimeout(write, thresholdMs, { stack: 'none: in native code' });
  inspect((found) => {
    clearTimeout(unanswered);
    // A stall that was logged without a stack is logged again with it.
    isWritten = false;
    write(found);
  });
}

function reportEnd(blockedMs: number, { since }: Stall): void {
  writeLine('Event loop is no longer blocked', {
    blockedSeconds: seconds(blockedMs),
    cpuSeconds: seconds(mainThread().cpuMs - since.cpuMs),
  });
}

type Found = { readonly work?: unknown; readonly stack: string | readonly string[] };

/** Evaluated in the main thread on top of its running code: the stack of a new error is its stack. */
const expression = `(() => {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = ${maxFrames};
  const { stack } = new Error();
  Error.stackTraceLimit = limit;
  const work = globalThis[Symbol.for(${JSON.stringify(registryName)})];
  return JSON.stringify({ stack, work: work === undefined ? [] : JSON.parse(work.describeAll()) });
})()`;

type MainThreadSession = Session & { connectToMainThread: () => void };
type Evaluated = { readonly result?: { readonly value?: string } };

function inspect(answered: (found: Found) => void): void {
  const session = new Session() as MainThreadSession;
  try {
    session.connectToMainThread();
  } catch (error) {
    answered({ stack: `none: ${(error as Error).message}` });
    return;
  }
  let samples = 0;
  const sample = (): void =>
    session.post(
      'Runtime.evaluate',
      { expression, returnByValue: true, silent: true },
      (error, evaluated) => {
        const { value } = (evaluated as Evaluated | undefined)?.result ?? {};
        const found: Found =
          value === undefined ? { stack: `none: ${error?.message}` } : readFound(value);
        samples += 1;
        if (found.stack.length === 0 && samples < maxSamples) {
          setTimeout(sample, sampleEveryMs);
          return;
        }
        answered(found);
        session.disconnect();
      },
    );
  sample();
}

function readFound(value: string): Found {
  const { stack, work } = JSON.parse(value) as { readonly stack: string; readonly work: unknown };
  // The first lines are the error's name, this expression, and the function that it calls.
  const frames = stack.split('\n').slice(3);
  return { work, stack: frames.map((line) => line.trim().replace(/^at /, '')) };
}

type Scheduled = { readonly cpuMs: number; readonly delayedMs: number };

/**
 * CPU time of the main thread, and time that it was runnable but waited for a CPU (schedstat); 0 where the kernel does not report it. The
 * main thread has the ID of the process.
 */
function mainThread(): Scheduled {
  try {
    const text = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1');
    const [cpu = 0, delayed = 0] = text.split(' ').map((field) => Number(field) / 1e6);
    return { cpuMs: cpu, delayedMs: delayed };
  } catch {
    // Whatever the reason (no /proc, a kernel without schedstat), stalls are reported without these times.
    return { cpuMs: 0, delayedMs: 0 };
  }
}

function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}

/** In the format of `observe/log.ts`, at level error; written directly, as the main thread is blocked. */
function writeLine(message: string, fields: object): void {
  const line = { level: 50, time: new Date().toISOString(), ...fields, msg: message };
  writeSync(2, `${JSON.stringify(line)}\n`);
}
