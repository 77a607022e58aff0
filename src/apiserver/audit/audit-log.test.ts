import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { silentLog } from '../../observe/log.ts';
import { type AuditLogOptions, openAuditLog, openRotated } from './audit-log.ts';

let directory = '';

function options(more: Partial<AuditLogOptions> = {}): AuditLogOptions {
  let time = Date.UTC(2026, 0, 1);
  return {
    path: join(directory, 'audit.log'),
    maxBytes: 0,
    maxBackups: 0,
    maxAgeDays: 0,
    // Each look at the clock is a millisecond later, so that names differ.
    now: () => time++,
    log: silentLog,
    ...more,
  };
}

const read = (name: string): Promise<string> => readFile(join(directory, name), 'utf8');

describe('audit log', () => {
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'fairlead-audit-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  test('lines arrive in order, behind what is there, for the owner alone', async () => {
    const first = await openAuditLog(options());
    first.write('1\n');
    await first.close();
    const second = await openAuditLog(options());
    for (let i = 2; i < 1000; i += 1) second.write(`${i}\n`);
    await second.close();
    assert.equal(
      await read('audit.log'),
      Array.from({ length: 999 }, (_, i) => `${i + 1}\n`).join(''),
    );
    assert.equal((await stat(join(directory, 'audit.log'))).mode & 0o777, 0o600);
  });

  test('a file that would grow too large is set aside, and only so many are kept', async () => {
    await writeFile(join(directory, 'audit-notes.log'), 'not ours');
    const file = await openRotated(options({ maxBytes: 10, maxBackups: 2 }));
    for (const line of ['aaaaaa\n', 'bbbbbb\n', 'cccccc\n', 'dddddd\n']) await file.write(line);
    await file.close();
    const names = (await readdir(directory)).sort();
    assert.deepEqual(
      names.map((name) => name.replace(/\.\d{3}/, '.mmm')),
      [
        'audit-2026-01-01T00-00-00.mmm.log',
        'audit-2026-01-01T00-00-00.mmm.log',
        'audit-notes.log',
        'audit.log',
      ],
    );
    const texts = await Promise.all(names.map(read));
    assert.deepEqual(texts, ['bbbbbb\n', 'cccccc\n', 'not ours', 'dddddd\n']);
  });

  test('what does not fit into the buffer is dropped and counted', async () => {
    let dropped = 0;
    const onDropped = (): void => {
      dropped += 1;
    };
    const log = await openAuditLog(options({ maxBufferedBytes: 10, onDropped }));
    for (let i = 0; i < 5; i += 1) log.write('1234\n');
    await log.close();
    assert.equal(await read('audit.log'), '1234\n1234\n');
    assert.equal(dropped, 3);
  });

  test('lines that cannot be written are counted', { skip: !existsSync('/dev/full') }, async () => {
    const errors: string[] = [];
    let dropped = 0;
    const audit = await openAuditLog(
      options({
        path: '/dev/full',
        log: { ...silentLog, error: (message) => errors.push(message) },
        onDropped: () => {
          dropped += 1;
        },
      }),
    );
    audit.write('a\n');
    audit.write('b\n');
    await audit.close();
    assert.deepEqual(errors, ['Failed to write audit lines, dropping them']);
    assert.equal(dropped, 2);
  });

  test('a place that cannot be written to is an error of the start', async () => {
    await assert.rejects(openAuditLog(options({ path: join(directory, 'no', 'audit.log') })), {
      code: 'ENOENT',
    });
  });
});
