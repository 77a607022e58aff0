import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Unrouted } from '../kinds/part/unrouted.ts';
import { createEffectiveRules } from './effective-rules.ts';
import { exampleNode, exampleServicePort } from './model/example-state.ts';
import type { Family, ProxyState } from './model/state.ts';

const pod = '10.1.0.1';
const never = new AbortController().signal;

function stateWith(...ips: readonly string[]): ProxyState {
  const endpoints = ips.map((ip) => ({ ip, port: 80, isLocal: false }));
  const port = { ...exampleServicePort(), clusterEndpoints: endpoints, localEndpoints: [] };
  return { node: exampleNode(), ports: new Map([[port.key, port]]) };
}

function start(families: readonly Family[] = ['IPv4']) {
  const world = { time: 0, revision: 1 };
  const rules = createEffectiveRules(families, {
    seen: () => ({ services: world.revision, slices: world.revision }),
    now: () => world.time,
  });
  const of = new Map(families.map((family) => [family, rules.of(family)]));
  const sync = (state: ProxyState, family: Family = 'IPv4'): void => {
    of.get(family)?.begin();
    of.get(family)?.applied(state);
  };
  const confirmed: string[] = [];
  const wait = (name: string, spec: Partial<Unrouted> = {}, signal = never): void => {
    const question = { slices: 1, addresses: [pod], forMs: 0, ...spec };
    void rules.unrouted(question, signal).then(() => confirmed.push(name));
  };
  const after = async (): Promise<readonly string[]> => {
    await Promise.resolve();
    await Promise.resolve();
    return confirmed;
  };
  return { world, rules, of, sync, wait, after };
}

describe('unrouted() of createEffectiveRules()', () => {
  it('resolves at once when no rule leads to the pod', async () => {
    const { sync, wait, after } = start();
    sync(stateWith('10.1.0.9'));
    wait('one');
    wait('none', { addresses: [] });
    assert.deepEqual(await after(), ['one', 'none']);
  });

  it('waits until no family leads to it', async () => {
    const { sync, wait, after } = start(['IPv4', 'IPv6']);
    sync(stateWith(pod));
    wait('before the first write of all families');
    sync(stateWith(pod), 'IPv6');
    sync(stateWith());
    assert.deepEqual(await after(), []);
    sync(stateWith(), 'IPv6');
    assert.equal((await after()).length, 1);
  });

  it('waits until the slices are in effect, also without a sync', async () => {
    const { world, rules, sync, wait, after } = start();
    sync(stateWith());
    wait('a', { slices: 7 });
    assert.deepEqual(await after(), []);
    world.revision = 7;
    rules.recheck();
    assert.deepEqual(await after(), ['a']);
    assert.equal(rules.isWaitedFor(), false);
  });

  it('starts anew when a rule leads to the pod again', async () => {
    const { world, rules, sync, wait, after } = start();
    sync(stateWith());
    wait('a', { forMs: 1500 });
    world.time = 1000;
    sync(stateWith(pod));
    world.time = 2000;
    sync(stateWith());
    rules.recheck();
    assert.deepEqual(await after(), []);
    world.time = 3500;
    rules.recheck();
    assert.deepEqual(await after(), ['a']);
  });

  it('does not read the state of a sync that runs, nor of one that failed', async () => {
    const { rules, of, sync, wait, after } = start();
    sync(stateWith(pod));
    of.get('IPv4')?.begin();
    wait('a');
    rules.recheck();
    of.get('IPv4')?.failed();
    rules.recheck();
    assert.deepEqual(await after(), []);
    sync(stateWith());
    assert.deepEqual(await after(), ['a']);
  });

  it('drops a question that is cancelled', async () => {
    const { rules, sync, wait, after } = start();
    const cancel = new AbortController();
    sync(stateWith(pod));
    wait('a', {}, cancel.signal);
    cancel.abort();
    sync(stateWith());
    assert.deepEqual(await after(), []);
    assert.equal(rules.isWaitedFor(), false);
  });
});
