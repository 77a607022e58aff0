import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseLogLine } from '../../logs/log-line.ts';
import { openLogFile, rotatedLogs } from './write-log-file.ts';

const now = (): number => Date.parse('2026-01-01T00:00:00.5Z');

test('openLogFile() writes whole lines of both streams', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'log-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, '0.log');
  const log = openLogFile(path, { now });
  log.write('stdout', Buffer.from('one\ntw'));
  log.write('stderr', Buffer.from('wrong\n'));
  const [first, second] = [Buffer.from('é').subarray(0, 1), Buffer.from('é').subarray(1)];
  log.write('stdout', first);
  log.write('stdout', second);
  log.write('stdout', Buffer.from('\nend'));
  log.close();
  assert.equal(
    readFileSync(path, 'utf8'),
    [
      '2026-01-01T00:00:00.500000000Z stdout F one',
      '2026-01-01T00:00:00.500000000Z stderr F wrong',
      '2026-01-01T00:00:00.500000000Z stdout F twé',
      '2026-01-01T00:00:00.500000000Z stdout P end\n',
    ].join('\n'),
  );
  assert.deepEqual(parseLogLine('2026-01-01T00:00:00.500000000Z stdout P a b'), {
    time: '2026-01-01T00:00:00.500000000Z',
    stream: 'stdout',
    isWhole: false,
    text: 'a b',
  });
});

test('openLogFile() rotates files and retains the newest', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'log-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, '0.log');
  const log = openLogFile(path, { now, limits: { maxBytes: 100, maxFiles: 3 } });
  for (let number = 0; number < 10; number += 1) {
    log.write('stdout', Buffer.from(`line ${number} ${'x'.repeat(40)}\n`));
  }
  log.close();
  const texts = [...rotatedLogs(path), path].map((file) => readFileSync(file, 'utf8'));
  assert.deepEqual(
    texts.map((text) => /line \d/.exec(text)?.[0]),
    ['line 7', 'line 8', 'line 9'],
  );
});
