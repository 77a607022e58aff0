// The recorded scenarios of the data plane in ipvs mode, with the real binary. The answers are those of nftables mode: where upstream's
// ipvs mode refuses instead of dropping, or keeps pods from endpoints elsewhere under policy Local, this one does not.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { loadModules } from './load-modules.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const folder = join(root, 'test', 'conformance', 'dataplane');
const fairlead = `${process.execPath} ${join(root, 'bin', 'fairlead')}`;
const timeoutMs = 1_700_000;

/** Emulation takes a quarter of an hour for all of them: only when asked for. */
const skip =
  process.env.FAIRLEAD_VM_FULL === '1'
    ? false
    : 'takes a quarter of an hour; set FAIRLEAD_VM_FULL=1';

test('ipvs: scenarios get what was recorded', { skip }, () => {
  loadModules();
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-dataplane-'));
  const server = `${fairlead} up --network none --bind-address {ip} --secure-port 6443 --data-dir ${directory}/data --write-kubeconfig {kubeconfig} --service-cluster-ip-range 10.96.0.0/16,fd00:96::/108`;
  const proxy = `${fairlead} proxy --kubeconfig {kubeconfig} --hostname-override {node} --proxy-mode {mode} --cluster-cidr 10.244.0.0/16,fd44::/16`;
  try {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [
        ...[join(folder, 'run.mjs'), '--mode', 'ipvs', '--slow', '4'],
        ...['--kubeconfig', join(directory, 'kubeconfig')],
        ...['--api-cmd', server, '--proxy-cmd', proxy],
        ...['--expect', join(folder, 'expected', 'nftables.json')],
      ],
      { encoding: 'utf8', timeout: timeoutMs },
    );
    assert.equal(status, 0, `${stdout}\n${stderr}`);
    assert.match(stdout, /^[1-9]\d* passed, 0 failed$/m);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
