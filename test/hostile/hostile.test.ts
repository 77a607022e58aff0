// Attacks on a real server with an honest client beside it: its requests are not delayed and do not fail, and memory stays bounded.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { allCases } from './all-cases.ts';
import { type HostileServers, maxStallCpuMs, openHostileServers } from './run-case.ts';

/** Resident memory after an attack; an idle server has a tenth. */
const maxMemoryMiB = 800;

describe('hostile clients beside an honest one', { skip: process.platform !== 'linux' }, () => {
  let directory = '';
  let servers: HostileServers;
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'fairlead-hostile-'));
    servers = openHostileServers(directory);
  });
  after(async () => {
    await servers.close();
    rmSync(directory, { recursive: true, force: true });
  });
  for (const hostile of allCases) {
    test(hostile.name, async () => {
      const result = await servers.run(hostile);
      assert.deepEqual(result.failures, [], 'requests of the honest client that failed');
      assert.ok(result.reads > 0, 'the honest client was answered');
      assert.ok(
        result.maxStallCpuMs <= maxStallCpuMs,
        `the event loop was blocked for ${Math.round(result.maxStallCpuMs)} ms of the main thread\n${result.log}`,
      );
      assert.ok(result.memoryMiB <= maxMemoryMiB, `${Math.round(result.memoryMiB)} MiB`);
    });
  }
});
