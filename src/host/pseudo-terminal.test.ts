import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { openPseudoTerminal } from './pseudo-terminal.ts';

const limit = { timeout: 20_000, skip: existsSync('/dev/ptmx') ? false : 'there is no /dev/ptmx' };

test('openPseudoTerminal() gives a program a terminal, its size and its input', limit, async () => {
  const terminal = openPseudoTerminal();
  terminal.resize({ columns: 100, rows: 30 });
  let output = '';
  terminal.master.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  // The master fails when no process has the slave open.
  const ended = once(terminal.master, 'error') as Promise<[NodeJS.ErrnoException]>;
  const script = 'stty size; read line; echo "got $line"';
  const child = spawn(
    '/bin/sh',
    ['-c', 'exec <>"$0" >&0 2>&0 && exec "$@"', terminal.path, 'sh', '-c', script],
    { detached: true, stdio: 'ignore' },
  );
  child.once('exit', terminal.release);
  terminal.master.write('keys\n');
  const [error] = await ended;
  assert.equal(error.code, 'EIO');
  assert.match(output, /30 100\r\n/);
  assert.match(output, /got keys\r\n/);
  terminal.master.destroy();
  // Does nothing after the end.
  terminal.resize({ columns: 1, rows: 1 });
});

test(
  'openPseudoTerminal() in a worker thread leaves no descriptor that Node would close',
  limit,
  async (t) => {
    const worker = new Worker(openAndEnd, {
      eval: true,
      workerData: new URL('./pseudo-terminal.js', import.meta.url).href,
    });
    t.after(() => worker.terminate());
    // A thread that has exited before its message is read emits both in one iteration of the event loop.
    const [[warnings], [code]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')]);
    assert.deepEqual(warnings, []);
    assert.equal(code, 0);
  },
);

/** The kernel reuses the lowest number, so that each file gets that of the terminal before it. */
const openAndEnd = `
  const { once } = require('node:events');
  const { closeSync, openSync } = require('node:fs');
  const { parentPort, workerData } = require('node:worker_threads');
  const warnings = [];
  process.on('warning', ({ message }) => warnings.push(message));
  import(workerData).then(async ({ openPseudoTerminal }) => {
    for (let count = 0; count < 12; count += 1) {
      const terminal = openPseudoTerminal();
      terminal.release();
      const closed = once(terminal.master, 'close');
      terminal.master.destroy();
      await closed;
      closeSync(openSync('/dev/null', 'r'));
    }
    await new Promise(setImmediate);
    parentPort.postMessage(warnings);
  });
`;
