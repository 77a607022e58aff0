import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

type Line = {
  readonly msg: string;
  readonly blockedSeconds: number;
  readonly work?: readonly Readonly<Record<string, unknown>>[];
  readonly stack?: readonly string[];
};

/** Blocked until the file is there, which the test makes when it has read what it waits for. */
const blockers = {
  'a loop': 'function spin() { while (!existsSync(file)); }; spin();',
  // In-process calls that answer at once: the event loop never gets round.
  'promises that never yield':
    'function spin() { for (let i = 0; i < 1e6; i += 1) Math.sqrt(i); return !existsSync(file); }; while (spin()) await undefined;',
};

for (const [name, blocker] of Object.entries(blockers)) {
  test(`watchStalls() reports what blocks the event loop: ${name}`, async () => {
    const directory = mkdtempSync(join(tmpdir(), 'fairlead-stall-'));
    const file = join(directory, 'go-on');
    const child = run(`
      import { existsSync } from 'node:fs';
      const file = ${JSON.stringify(file)};
      const metrics = createMetrics();
      const stop = watchStalls({ isLogged: true, metrics });
      beginWork({ key: 'default/web' }, ({ key }) => ({ kind: 'reconcile', key }));
      await new Promise((resolve) => setTimeout(resolve, 10));
      ${blocker}
      while (!/_count [1-9]/.test(metrics.text())) await new Promise((r) => setTimeout(r, 10));
      stop();
      process.stdout.write(metrics.text());
    `);
    try {
      const line = await firstLine(child.stderr);
      assert.equal(line.msg, 'Event loop is blocked');
      assert.ok(line.blockedSeconds >= 1);
      assert.deepEqual(line.work, [{ kind: 'reconcile', key: 'default/web' }]);
      assert.match(line.stack?.join('\n') ?? '', /spin/);
      writeFileSync(file, '');
      const text = await all(child.stdout);
      assert.match(text, /fairlead_event_loop_stall_seconds_count 1\n/);
    } finally {
      child.kill('SIGKILL');
      rmSync(directory, { recursive: true });
    }
  });
}

test('watchStalls() starts its thread at once where that is wanted', async () => {
  const child = run(`
    process.on('worker', () => process.stdout.write('started'));
    const metrics = createMetrics();
    const stop = watchStalls({ isLogged: true, metrics, start: 'at-once' });
    setImmediate(stop);
  `);
  assert.equal(await all(child.stdout), 'started');
});

test('watchStalls() starts no thread before there is work, nor where nothing is logged', async () => {
  const threads = "readdirSync('/proc/self/task').length";
  const child = run(`
    import { readdirSync } from 'node:fs';
    const counts = [];
    const count = async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      counts.push(process.platform === 'linux' ? ${threads} : counts.length === 2 ? 1 : 0);
    };
    await count();
    const stop = watchStalls({ isLogged: true, metrics: createMetrics() });
    await count();
    beginWork({}, () => ({}));
    await count();
    stop();
    watchStalls({ isLogged: false, metrics: createMetrics() });
    beginWork({}, () => ({}));
    await new Promise((resolve) => setTimeout(resolve, 200));
    await count();
    const [bare, watching, working, silent] = counts;
    process.stdout.write(JSON.stringify([watching - bare, working > bare, silent - bare]));
  `);
  assert.equal(await all(child.stdout), '[0,true,0]');
});

function run(script: string) {
  const url = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href);
  const head = `
    import { watchStalls } from ${url('./watch-stalls.js')};
    import { beginWork } from ${url('../observe/current-work.js')};
    import { createMetrics } from ${url('../observe/metrics.js')};
  `;
  return spawn(process.execPath, ['--input-type=module', '-e', head + script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function firstLine(stream: NodeJS.ReadableStream): Promise<Line> {
  let text = '';
  for (;;) {
    const [chunk] = (await once(stream, 'data')) as [Buffer];
    text += String(chunk);
    if (text.includes('\n')) return JSON.parse(text.slice(0, text.indexOf('\n'))) as Line;
  }
}

async function all(stream: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  return text;
}
