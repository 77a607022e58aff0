// What the README of the controllers lists must be what the code has.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { allControllers } from '../../src/controllers/all.ts';
import { startControllers } from '../../src/controllers/run.ts';
import { createFakeClock } from '../../src/host/fake-clock.ts';
import { silentLog } from '../../src/observe/log.ts';
import { createMetrics } from '../../src/observe/metrics.ts';

const readme = readFileSync('src/controllers/README.md', 'utf8');
const section = (title: string): string =>
  readme.split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
const quoted = (text: string): readonly string[] =>
  [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);

test('the README names the controllers there are', () => {
  const rows = readme.split('\n').filter((line) => line.startsWith('| `'));
  const named = rows.flatMap((row) => quoted(row.split('|')[2] ?? ''));
  const names = allControllers.map(({ name }) => name);
  assert.deepEqual(named.filter((name) => !name.includes('_')).sort(), [...names].sort());
});

test('the README names the metrics there are', async () => {
  const metrics = createMetrics();
  const stop = new AbortController();
  const running = startControllers({
    transport: {
      send: () => Promise.reject(new Error('there is no server')),
      close: () => Promise.resolve(),
    },
    log: silentLog,
    authorityCertificate: 'CERTIFICATE',
    signal: stop.signal,
    clock: createFakeClock(),
    metrics,
  });
  stop.abort();
  await running;
  const measured = [...metrics.text().matchAll(/^# HELP (\S+)/gm)].map(([, name = '']) => name);
  const rows = section('Metrics')
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  const named = rows.flatMap((row) => quoted(row.split('|')[1] ?? ''));
  // Of the command, which decides who leads.
  const ofCommand = 'leader_election_master_status';
  assert.deepEqual([...named].sort(), [...measured, ofCommand].sort());
});
