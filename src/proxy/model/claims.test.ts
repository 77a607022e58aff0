import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createClaims } from './claims.ts';

const at = '203.0.113.1 80 TCP';
const external = { name: at, rank: 'other' } as const;
const balancer = { name: at, rank: 'loadBalancer' } as const;
const cluster = { name: at, rank: 'clusterIP' } as const;
const old = { portKey: 'default/old', created: '2026-01-01T00:00:00Z' };
const young = { portKey: 'default/young', created: '2026-02-01T00:00:00Z' };

describe('createClaims()', () => {
  it('gives what several request to the older, in whatever order they are added', () => {
    const claims = createClaims();
    assert.deepEqual([...claims.add(young, external)], ['default/young']);
    assert.deepEqual([...claims.add(old, external)].sort(), ['default/old', 'default/young']);
    assert.equal(claims.has('default/old', at), true);
    assert.equal(claims.has('default/young', at), false);
  });
  it('gives a cluster IP to the Service that it is allocated to', () => {
    const claims = createClaims();
    claims.add(old, external);
    claims.add(young, cluster);
    assert.equal(claims.has('default/young', at), true);
  });
  it('gives the address of a load balancer to its Service, whatever the age of others that name it', () => {
    const claims = createClaims();
    claims.add(old, external);
    assert.deepEqual([...claims.add(young, balancer)].sort(), ['default/old', 'default/young']);
    assert.equal(claims.has('default/young', at), true);
    claims.add({ ...old, portKey: 'default/cluster' }, cluster);
    assert.equal(claims.has('default/cluster', at), true);
  });
  it('orders claims of the same age by name', () => {
    const claims = createClaims();
    claims.add({ ...old, portKey: 'b' }, external);
    claims.add({ ...old, portKey: 'a' }, external);
    assert.equal(claims.has('a', at), true);
  });
  it('passes a removed claim to the next, and returns both keys', () => {
    const claims = createClaims();
    claims.add(old, external);
    assert.deepEqual([...claims.add(young, external)], []);
    assert.deepEqual([...claims.remove('default/old', at)].sort(), [
      'default/old',
      'default/young',
    ]);
    assert.equal(claims.has('default/young', at), true);
  });
});
