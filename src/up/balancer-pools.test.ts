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
      'parts of the network by default',
      [{}, ranges],
      { external: '172.30.128.0/26,fd30::8000/122', internal: '172.30.128.64/26,fd30::8040/122' },
    ],
    ['nothing without a network of its own', [{}], undefined],
    ['what is given', [{ loadBalancerInternalPool: '10.0.0.1' }], { internal: '10.0.0.1' }],
    [
      'no default that meets what is given',
      [{ loadBalancerPool: '172.30.128.0/24' }, ranges],
      { external: '172.30.128.0/24', internal: 'fd30::8040/122' },
    ],
    [
      'what is given, also when it makes no sense',
      [{ loadBalancerPool: 'x' }, { balancerRanges: [], internalBalancerRanges: [] }],
      { external: 'x' },
    ],
  ];
for (const [name, given, expected] of cases) {
  test(`balancerPools() has ${name}`, () => assert.deepEqual(balancerPools(...given), expected));
}

test('pools become settings of the provider and a line of the screen', () => {
  assert.deepEqual(poolSettings({ external: 'a', internal: 'b' }), {
    loadBalancerPool: 'a',
    loadBalancerInternalPool: 'b',
  });
  assert.equal(describePools({ external: 'a', internal: 'b' }), 'a; internal ones b');
  assert.match(describePools(undefined), /--load-balancer-pool/);
});
