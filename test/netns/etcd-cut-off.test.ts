// Members of etcd and API servers in networks of their own that lose packets: neither data nor an end comes. What must hold is in
// test/crash/etcd-fault-run.ts. FAIRLEAD_FAULT_ROUNDS=20 for a night.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseSeed } from '../parts/harness/random.ts';
import { etcdMissing } from '../parts/harness/running-etcd.ts';
import { runInLab } from './lab/enter.ts';

const rounds = process.env.FAIRLEAD_FAULT_ROUNDS ?? '1';

test('no write is lost when members and servers are cut off', {
  skip: etcdMissing() ?? false,
  timeout: 300_000 + Number(rounds) * 300_000,
}, async (t) => {
  const seed = chooseSeed();
  t.diagnostic(`FAIRLEAD_SEED=${seed}`);
  const { code, output } = await runInLab('etcd-cut-off.js', [rounds, String(seed)]);
  assert.equal(code, 0, output);
  for (const line of output.trim().split('\n')) t.diagnostic(line);
});
