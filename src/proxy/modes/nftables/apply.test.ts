import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../../../host/fake-clock.ts';
import type { Transaction } from '../../../host/nftables/objects.ts';
import type { TableAccess } from '../../../host/nftables/table-access.ts';
import { silentLog } from '../../../observe/log.ts';
import { exampleServicePort, exampleState } from '../../model/example-state.ts';
import { startNftables } from './apply.ts';

const deletesChains = ({ operations }: Transaction): boolean =>
  operations.some(({ kind }) => kind === 'delete-chain');

test('sync() reports stale chains that the kernel does not delete, and tries again (KPX-55)', async () => {
  let refusals = 1;
  const access: TableAccess = {
    transport: 'netlink',
    async apply(transaction) {
      if (!deletesChains(transaction) || refusals === 0) return 1;
      refusals -= 1;
      throw new Error('EBUSY');
    },
    wantsNewTable: () => false,
    readNames: async () => undefined,
    readElements: async () => [],
    close: () => Promise.resolve(),
  };
  const clock = createFakeClock();
  const options = { family: 'IPv4', clock, log: silentLog } as const;
  const { sync } = await startNftables(options, async () => access);
  const full = exampleState([exampleServicePort()]);
  await sync(full, { kind: 'full' });
  const empty = { ...full, ports: new Map() };
  const removal = { kind: 'ports', keys: new Set(full.ports.keys()) } as const;
  assert.equal((await sync(empty, removal)).cleanupFailed, undefined);
  const results: (boolean | undefined)[] = [];
  for (let round = 0; round < 2; round += 1) {
    await clock.advance(1000);
    results.push((await sync(empty, { kind: 'ports', keys: new Set() })).cleanupFailed);
  }
  assert.deepEqual(results, [true, undefined]);
});
