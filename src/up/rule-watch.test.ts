import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleNode, exampleServicePort } from '../proxy/model/example-state.ts';
import type { ProxyState } from '../proxy/model/state.ts';
import { createRuleWatch } from './rule-watch.ts';

function stateWith(...ips: readonly string[]): ProxyState {
  const endpoints = ips.map((ip) => ({ ip, port: 80, isLocal: false }));
  const port = { ...exampleServicePort(), clusterEndpoints: endpoints, localEndpoints: [] };
  return { node: exampleNode(), ports: new Map([[port.key, port]]) };
}

test('createRuleWatch() reports once, when no rule leads to the pod any more', () => {
  const unrouted: number[] = [];
  const watch = createRuleWatch((id) => unrouted.push(id));
  watch.applied(stateWith('10.1.0.1', '10.1.0.2'));
  watch.watch(1, ['10.1.0.1']);
  assert.deepEqual(unrouted, []);
  watch.applied(stateWith('10.1.0.1'));
  assert.deepEqual(unrouted, []);
  watch.applied(stateWith('10.1.0.2'));
  watch.applied(stateWith());
  assert.deepEqual(unrouted, [1]);
});

test('createRuleWatch() reports immediately if no rule leads to the pod, and nothing after unwatch()', () => {
  const unrouted: number[] = [];
  const watch = createRuleWatch((id) => unrouted.push(id));
  watch.applied(stateWith('10.1.0.1'));
  watch.watch(1, ['10.1.0.9', 'fd44::9']);
  watch.watch(2, ['10.1.0.1']);
  watch.unwatch(2);
  watch.applied(stateWith());
  assert.deepEqual(unrouted, [1]);
});
