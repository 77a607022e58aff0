// The answering thread. It holds all names itself, so that work on the watching thread never delays replies.
import { randomBytes } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../host/clock.ts';
import type { Log } from '../observe/log.ts';
import { createMetrics } from '../observe/metrics.ts';
import type { AnswerWorkerOptions, FromAnswerer, LogLine, ToAnswerer } from './messages.ts';
import { startAnswering } from './run-answers.ts';

const port = parentPort;
if (port === null) throw new Error('this file runs as a worker thread');

const post = (message: FromAnswerer): void => port.postMessage(message);

const write =
  (level: LogLine['level']) =>
  (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
    const plain = Object.entries(fields).map(([name, value]) => [name, String(value)]);
    post({ kind: 'log', line: { level, message, fields: Object.fromEntries(plain) } });
  };
const log: Log = {
  error: write('error'),
  warn: write('warn'),
  info: write('info'),
  debug: write('debug'),
  with: () => log,
};

const answering = startAnswering(workerData as AnswerWorkerOptions, {
  post,
  log,
  clock: systemClock,
  metrics: createMetrics(),
  seed: randomBytes(4).readUInt32LE(0),
});
port.on('message', (message: ToAnswerer) => answering.receive(message));
answering.ended
  .catch((error: unknown) => post({ kind: 'failed', message: errorText(error) }))
  .finally(() => port.close());

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
