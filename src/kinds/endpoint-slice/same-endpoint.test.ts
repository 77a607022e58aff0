import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpointIdentity, isUnchanged } from './same-endpoint.ts';
import type { Endpoint } from './types.ts';

const endpoint: Endpoint = {
  addresses: ['10.0.0.1'],
  conditions: { ready: true, serving: true, terminating: false },
  hostname: 'web-0',
  targetRef: { kind: 'Pod', namespace: 'a', name: 'p', uid: 'u' },
  nodeName: 'n1',
  zone: 'z1',
};
const target = endpoint.targetRef;

type Case = {
  readonly title: string;
  readonly change: Partial<Endpoint>;
  readonly sameIdentity: boolean;
  readonly unchanged: boolean;
};

const cases: readonly Case[] = [
  { title: 'nothing', change: {}, sameIdentity: true, unchanged: true },
  {
    title: 'hints',
    change: { hints: { forZones: [{ name: 'z' }] } },
    sameIdentity: true,
    unchanged: true,
  },
  {
    title: 'the version of the pod',
    change: { targetRef: { ...target, resourceVersion: '9' } },
    sameIdentity: true,
    unchanged: true,
  },
  {
    title: 'readiness',
    change: { conditions: { ready: false } },
    sameIdentity: true,
    unchanged: false,
  },
  { title: 'the node', change: { nodeName: 'n2' }, sameIdentity: true, unchanged: false },
  { title: 'the zone', change: { zone: 'z2' }, sameIdentity: true, unchanged: false },
  {
    title: 'the uid of the pod',
    change: { targetRef: { ...target, uid: 'v' } },
    sameIdentity: true,
    unchanged: false,
  },
  {
    title: 'the pod',
    change: { targetRef: { ...target, name: 'q' } },
    sameIdentity: false,
    unchanged: false,
  },
  {
    title: 'the address',
    change: { addresses: ['10.0.0.2'] },
    sameIdentity: false,
    unchanged: false,
  },
  { title: 'the host name', change: { hostname: 'web-1' }, sameIdentity: false, unchanged: false },
];

for (const { title, change, sameIdentity, unchanged } of cases) {
  test(`a change of ${title} makes ${sameIdentity ? 'the same' : 'another'} endpoint, ${unchanged ? 'unchanged' : 'changed'}`, () => {
    const after = { ...endpoint, ...change };
    assert.equal(endpointIdentity(after) === endpointIdentity(endpoint), sameIdentity);
    assert.equal(isUnchanged(endpoint, after), unchanged);
  });
}

test('endpointIdentity() does not depend on the order of addresses', () => {
  const two = { ...endpoint, addresses: ['10.0.0.1', '10.0.0.2'] };
  const turned = { ...endpoint, addresses: ['10.0.0.2', '10.0.0.1'] };
  assert.equal(endpointIdentity(two), endpointIdentity(turned));
});

test('isUnchanged() is false for an added or removed target', () => {
  const { targetRef: _, ...without } = endpoint;
  assert.equal(isUnchanged(endpoint, without), false);
  assert.equal(isUnchanged({ ...without, targetRef: {} }, without), false);
});
