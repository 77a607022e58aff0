import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkProviderSettings } from './check-provider-settings.ts';
import { providerNamed } from './cloud-flags.ts';
import { UsageError } from './command.ts';

test('checkProviderSettings() takes a pool, and explains one that is none', async () => {
  const makeProvider = await providerNamed('local').load();
  const check = (loadBalancerPool: string): Promise<void> =>
    checkProviderSettings(makeProvider, { clusterName: 'lab', settings: { loadBalancerPool } });
  await check('172.30.200.0/24');
  await assert.rejects(
    check('foo'),
    (error: unknown) =>
      error instanceof UsageError &&
      /--load-balancer-pool makes no sense: "foo"/.test(error.message),
  );
});
