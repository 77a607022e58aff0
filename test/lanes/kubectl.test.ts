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

/** The lines of the behaviour list that a transcript shows. */
const shows: Readonly<Record<string, string>> = {
  'get with nothing there': 'KCT-27, KCT-37',
  'apply, get, delete': 'KCT-11, KCT-19, KCT-21, KCT-26',
  'output formats': 'KCT-27',
  'describe a cluster ip service': 'KCT-14, KCT-15',
  'describe node port, load balancer, external name, headless': 'KCT-12, KCT-13, KCT-15',
  'create service': 'KCT-17, KCT-37',
  expose: 'KCT-18',
  'errors a person sees': 'KCT-23, KCT-34, KCT-37',
  'patch, label, annotate, edit, replace': 'KCT-23, KCT-24, KCT-25, KCT-29',
  'server side apply and diff': 'KCT-20, KCT-22',
  'watch and wait': 'KCT-06, KCT-27, KCT-28',
  'explain knows the fields': 'KCT-02',
  'api resources': 'KCT-01, KCT-33',
  'namespaces, ipaddresses, service cidrs': 'KCT-14',
  'load balancer status and external columns': 'KCT-12, KCT-24',
  'deployments and scale': 'KCT-18',
  'auth can-i and cluster-info': 'KCT-32, KCT-33',
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
    test(`${name} (${shows[name]})`, { timeout }, async () => {
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

test('every transcript says what it shows', () => {
  assert.deepEqual(Object.keys(shows).sort(), transcripts.map(({ name }) => name).sort());
});
