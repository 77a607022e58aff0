// The recorded scenarios of the data plane, in each mode that this machine runs, with the real binary.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const runner = join(root, 'test', 'conformance', 'dataplane', 'run.mjs');
const fairlead = `${process.execPath} ${join(root, 'bin', 'fairlead')}`;
/** Forty scenarios take a minute and a half where nothing else runs. */
const timeoutMs = 900_000;

/**
 * One scenario wants four connections to meet four different endpoints, in one of eight attempts: with a choice by chance it fails
 * nearly every other time. What fails is therefore tried again, alone.
 */
const maxAttempts = 8;

// Each mode has a lab of its own, and most of a run is waiting for packets that never come: the labs stand side by side.
describe('all scenarios get what was recorded', { concurrency: true }, () => {
  for (const mode of ['nftables', 'iptables', 'userspace']) {
    test(`in ${mode} mode`, async () => {
      let result = await run(mode);
      for (let attempt = 1; attempt < maxAttempts && result.failed.length > 0; attempt += 1) {
        assert.ok(result.failed.length <= 2, result.output);
        result = await run(mode, result.failed);
      }
      assert.equal(result.status, 0, result.output);
    });
  }
});

type Result = {
  readonly status: number;
  readonly failed: readonly string[];
  readonly output: string;
};

async function run(mode: string, only: readonly string[] = []): Promise<Result> {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-dataplane-'));
  // What a mode answers by its nature stands beside its tests.
  const own = join(root, 'test', 'netns', 'expected', `${mode}.json`);
  const server = `${fairlead} up --network none --bind-address {ip} --secure-port 6443 --data-dir ${directory}/data --write-kubeconfig {kubeconfig} --service-cluster-ip-range 10.96.0.0/16,fd00:96::/108`;
  const proxy = `${fairlead} proxy --kubeconfig {kubeconfig} --hostname-override {node} --proxy-mode {mode} --cluster-cidr 10.244.0.0/16,fd44::/16`;
  const names = only.map((name) => name.replace(/[^\w ]/g, '\\$&')).join('|');
  try {
    const { status, stdout, stderr } = await runScenarios([
      ...['--mode', mode, '--kubeconfig', join(directory, 'kubeconfig')],
      ...['--api-cmd', server, '--proxy-cmd', proxy],
      ...(existsSync(own) ? ['--expect', own] : []),
      ...(only.length > 0 ? ['--only', `^(${names})$`] : []),
    ]);
    const failed = [...stdout.matchAll(/^--- (.*)$/gm)].map(([, name = '']) => name);
    return { status, failed, output: `${stdout}\n${stderr}` };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * The networks of a lab have names. They are kept apart from the machine's own: test/netns/up.test.ts compares what the machine has before and
 * after, and two labs may come by the same names.
 */
const hideNames = 'mkdir -p /run/netns && mount -t tmpfs names /run/netns && exec "$0" "$@"';

type Ended = { readonly status: number; readonly stdout: string; readonly stderr: string };

function runScenarios(args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(
      'unshare',
      ['--mount', 'sh', '-c', hideNames, process.execPath, runner, ...args],
      { timeout: timeoutMs },
      (_error, stdout, stderr) => resolve({ status: child.exitCode ?? 1, stdout, stderr }),
    );
  });
}
