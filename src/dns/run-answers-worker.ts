// The thread that answers. It has all the names itself, so that nothing the other thread does can keep it from answering.
import { randomBytes } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../host/clock.ts';
import type { Log } from '../observe/log.ts';
import { createMetrics } from '../observe/metrics.ts';
import type { AnswerWorkerOptions, FromAnswerer, LogLine, ToAnswerer } from './messages.ts';
import { startAnswering } from './run-answers.ts';

const port = parentPort;
if (port === null) throw new Error('this file is started as a worker');

const tell = (message: FromAnswerer): void => port.postMessage(message);

const write =
  (level: LogLine['level']) =>
  (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
    const plain = Object.entries(fields).map(([name, value]) => [name, String(value)]);
    tell({ kind: 'log', line: { level, message, fields: Object.fromEntries(plain) } });
  };
const log: Log = {
  error: write('error'),
  warn: write('warn'),
  info: write('info'),
  debug: write('debug'),
  with: () => log,
};

const answering = startAnswering(workerData as AnswerWorkerOptions, {
  tell,
  log,
  clock: systemClock,
  metrics: createMetrics(),
  seed: randomBytes(4).readUInt32LE(0),
});
port.on('message', (message: ToAnswerer) => answering.receive(message));
answering.ended
  .catch((error: unknown) => tell({ kind: 'failed', message: errorText(error) }))
  .finally(() => port.close());

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
