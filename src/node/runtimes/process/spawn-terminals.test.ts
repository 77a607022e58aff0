// Nodes of `up` are worker threads, in which Node tracks the descriptors that it opens.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

const limit = { timeout: 60_000, skip: existsSync('/dev/ptmx') ? false : 'there is no /dev/ptmx' };

test('terminals of containers and entered programs do not leak descriptors', limit, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'terminals-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const url = (path: string): string => new URL(path, import.meta.url).href;
  const worker = new Worker(runInTerminals, {
    eval: true,
    workerData: {
      directory,
      runtime: url('./run-runtime.js'),
      security: url('../../pod/container-security.js'),
      log: url('../../../observe/log.js'),
    },
  });
  t.after(() => worker.terminate());
  // A thread that has ended by the time its message is read reports both in one tick of the event loop.
  const [[found], [code]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')]);
  assert.deepEqual(found, { outputs: Array.from({ length: 24 }, () => 'yes'), warnings: [] });
  assert.equal(code, 0);
});

const runInTerminals = `
  const { closeSync, mkdirSync, openSync } = require('node:fs');
  const { join } = require('node:path');
  const { parentPort, workerData } = require('node:worker_threads');
  const { directory, runtime: runtimeUrl, security, log } = workerData;
  const warnings = [];
  process.on('warning', ({ message }) => warnings.push(message));
  const touch = () => closeSync(openSync('/dev/null', 'r'));
  const until = (listen) =>
    new Promise((resolve) => {
      let text = '';
      listen((bytes) => {
        text += bytes;
        if (text.includes('yes\\r\\n')) resolve('yes');
      });
    });
  (async () => {
    const { createProcessRuntime } = await import(runtimeUrl);
    const { defaultSecurity } = await import(security);
    const { silentLog } = await import(log);
    const options = { images: {}, directory, now: Date.now, log: silentLog, version: '1' };
    const runtime = await createProcessRuntime(options);
    const outputs = [];
    for (let id = 0; id < 12; id += 1) {
      const own = join(directory, String(id));
      mkdirSync(own);
      const container = await runtime.startContainer({
        id: String(id),
        pod: { uid: 'u', namespace: 'default', name: 'web' },
        name: 'app',
        image: 'process',
        command: ['sh', '-c', 'read line; test -t 0 && echo yes; exec sleep 1000'],
        args: [],
        variables: {},
        mounts: [],
        security: defaultSecurity,
        directory: own,
        logPath: join(own, 'log'),
        hasStdin: true,
        hasTerminal: true,
      });
      const said = until((listener) => container.onOutput((_, bytes) => listener(bytes)));
      container.input.write('go\\n');
      outputs.push(await said);
      const command = ['sh', '-c', 'test -t 0 && echo yes'];
      const entered = await container.enter(command, { hasTerminal: true });
      outputs.push(await until((listener) => entered.output.on('data', listener)));
      await entered.ended;
      touch();
      container.signal('SIGKILL');
      await container.ended;
      touch();
    }
    runtime.endPod('u');
    await new Promise(setImmediate);
    parentPort.postMessage({ outputs, warnings });
  })();
`;
