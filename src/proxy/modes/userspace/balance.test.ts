import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Endpoint } from '../../model/state.ts';
import { createBalancer } from './balance.ts';

const endpoint = (last: number): Endpoint => ({
  ip: `10.244.0.${last}`,
  port: 80,
  isLocal: false,
});
const three = [endpoint(1), endpoint(2), endpoint(3)];
const ips = (picks: readonly (Endpoint | undefined)[]): readonly (string | undefined)[] =>
  picks.map((pick) => pick?.ip);

function balancer(endpoints: readonly Endpoint[], affinitySeconds?: number) {
  let time = 0;
  const made = createBalancer({
    endpoints,
    ...(affinitySeconds === undefined ? {} : { affinitySeconds }),
    now: () => time,
    // Just under one: every element stays where it is.
    random: () => 0.999,
  });
  return {
    ...made,
    pass: (seconds: number) => {
      time += seconds * 1000;
    },
  };
}

describe('createBalancer()', () => {
  test('goes round the endpoints (USR-02)', () => {
    const { pick } = balancer(three);
    assert.deepEqual(ips(['a', 'a', 'b', 'a'].map(pick)), [
      '10.244.0.1',
      '10.244.0.2',
      '10.244.0.3',
      '10.244.0.1',
    ]);
  });

  test('returns undefined while there are no endpoints', () => {
    assert.equal(balancer([]).pick('a'), undefined);
    assert.equal(balancer([]).pickAnother('a', []), undefined);
  });

  test('starts anew, in another order, when the endpoints change (USR-02)', () => {
    const made = createBalancer({ endpoints: three, now: () => 0, random: () => 0 });
    made.pick('a');
    made.update(three.slice(0, 2), undefined);
    assert.deepEqual(ips(['a', 'a'].map(made.pick)), ['10.244.0.2', '10.244.0.1']);
  });

  test('sticks a client to its endpoint, anew with each connection (USR-04)', () => {
    const { pick, pass } = balancer(three, 60);
    const first = pick('a');
    assert.notEqual(pick('b')?.ip, first?.ip);
    pass(50);
    assert.equal(pick('a'), first);
    pass(50);
    assert.equal(pick('a'), first);
  });

  test('lets a client go after the time without a connection (USR-04)', () => {
    const { pick, pass } = balancer(three, 60);
    const first = pick('a');
    pass(60);
    assert.notEqual(pick('a')?.ip, first?.ip);
  });

  test('moves a client whose endpoint has gone and leaves the others (USR-04, KPX-25)', () => {
    const { pick, update } = balancer(three, 60);
    assert.deepEqual(ips(['a', 'b'].map(pick)), ['10.244.0.1', '10.244.0.2']);
    update([endpoint(2), endpoint(3)], 60);
    assert.equal(pick('b')?.ip, '10.244.0.2');
    assert.notEqual(pick('a')?.ip, '10.244.0.1');
  });

  test('knows nothing of what the proxy of another node remembers (KPX-24)', () => {
    const here = balancer(three, 60);
    const there = balancer(three, 60);
    assert.deepEqual(ips(['a', 'b'].map(here.pick)), ['10.244.0.1', '10.244.0.2']);
    assert.deepEqual(ips(['b', 'a'].map(there.pick)), ['10.244.0.1', '10.244.0.2']);
    assert.deepEqual(ips(['a', 'b'].map(here.pick)), ['10.244.0.1', '10.244.0.2']);
  });

  test('sticks a client to the other endpoint when the first did not answer (USR-03)', () => {
    const { pick, pickAnother } = balancer(three, 60);
    const first = pick('a');
    assert.ok(first);
    // The other endpoints of the round went to other clients, and the next one is the first again.
    pick('b');
    pick('c');
    const other = pickAnother('a', [first]);
    assert.equal(other?.ip, '10.244.0.2');
    assert.equal(pick('a'), other);
  });

  test('tries the only endpoint again', () => {
    const { pickAnother } = balancer([endpoint(1)]);
    assert.equal(pickAnother('a', [endpoint(1)])?.ip, '10.244.0.1');
  });

  test('remembers a bounded number of clients', () => {
    const { pick } = balancer(three, 60);
    const first = pick('first');
    for (let client = 0; client < 65_536; client += 1) pick(String(client));
    // 65,537 connections later it is the turn of the third.
    assert.notEqual(pick('first')?.ip, first?.ip);
  });
});
