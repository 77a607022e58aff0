// Real kubectl command lines against the real binary. A transcript that is not on the list of accepted differences
// must pass; one that is on it must still differ, so that the list only shrinks.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type RunningServer, root, startBinary } from './running-server.ts';
import { unpackKubectl } from './unpack-kubectl.ts';

const folder = join(root, 'test', 'conformance', 'kubectl');
const differences = join(root, 'test', 'accepted-differences.json');

const { transcripts } = (await import(pathToFileURL(join(folder, 'transcripts.mjs')).href)) as {
  transcripts: readonly { readonly name: string }[];
};
const { kubectl: accepted } = JSON.parse(await readFile(differences, 'utf8')) as {
  kubectl: Readonly<Record<string, string>>;
};

/** Some transcripts wait for controllers or for kubectl's own time-outs. */
const timeout = 180_000;

// Each has a namespace of its own; more at once would only wait for the processor.
describe('kubectl transcripts', { concurrency: 2 }, () => {
  let server: RunningServer;
  let kubectl: string;
  before(async () => {
    [server, kubectl] = await Promise.all([startBinary(), unpackKubectl()]);
  });
  after(() => server.stop());

  for (const { name } of transcripts) {
    test(name, { timeout }, async () => {
      const { passed, output } = await run(name);
      const reason = accepted[name];
      if (reason === undefined) assert.ok(passed, output);
      else assert.ok(!passed, `passes now: take it off the list (it was there for: ${reason})`);
    });
  }

  function run(name: string): Promise<{ readonly passed: boolean; readonly output: string }> {
    const only = `^${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`;
    const args = [
      join(folder, 'run.mjs'),
      ...['--kubeconfig', server.kubeconfig, '--kubectl', kubectl, '--only', only],
    ];
    return new Promise((resolve) => {
      execFile(process.execPath, args, { maxBuffer: 1 << 24 }, (error, stdout, stderr) =>
        resolve({ passed: error === null, output: `${stdout}${stderr}` }),
      );
    });
  }
});

test('every accepted difference is a transcript that exists', () => {
  const names = new Set(transcripts.map(({ name }) => name));
  assert.deepEqual(
    Object.keys(accepted).filter((name) => !names.has(name)),
    [],
  );
});
