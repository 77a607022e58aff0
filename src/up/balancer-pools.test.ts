import assert from 'node:assert/strict';
import { test } from 'node:test';
import { balancerPools, describePools, poolSettings } from './balancer-pools.ts';

const ranges = {
  balancerRanges: ['172.30.128.0/26', 'fd30::8000/122'],
  internalBalancerRanges: ['172.30.128.64/26', 'fd30::8040/122'],
};
const cases: readonly (readonly [string, Parameters<typeof balancerPools>, object | undefined])[] =
  [
    [
      'parts of the isolated network by default',
      [{}, ranges],
      { external: '172.30.128.0/26,fd30::8000/122', internal: '172.30.128.64/26,fd30::8040/122' },
    ],
    ['no pools by default without an isolated network', [{}], undefined],
    ['the pool of a flag', [{ loadBalancerInternalPool: '10.0.0.1' }], { internal: '10.0.0.1' }],
    [
      'no default range that overlaps the pool of the other flag',
      [{ loadBalancerPool: '172.30.128.0/24' }, ranges],
      { external: '172.30.128.0/24', internal: 'fd30::8040/122' },
    ],
    [
      'an invalid pool of a flag as it is',
      [{ loadBalancerPool: 'x' }, { balancerRanges: [], internalBalancerRanges: [] }],
      { external: 'x' },
    ],
  ];
for (const [name, args, expected] of cases) {
  test(`balancerPools() returns ${name}`, () => assert.deepEqual(balancerPools(...args), expected));
}

test('poolSettings() and describePools() render both pools', () => {
  assert.deepEqual(poolSettings({ external: 'a', internal: 'b' }), {
    loadBalancerPool: 'a',
    loadBalancerInternalPool: 'b',
  });
  assert.equal(describePools({ external: 'a', internal: 'b' }), 'a; internal ones b');
  assert.match(describePools(undefined), /--load-balancer-pool/);
});
