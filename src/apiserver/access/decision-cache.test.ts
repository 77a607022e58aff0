import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cacheDecisions } from './decision-cache.ts';
import type { AccessAttributes, AccessDecision, User } from './user.ts';

const jane: User = { name: 'jane', groups: ['a'] };
const secret = {
  kind: 'resource',
  verb: 'get',
  group: '',
  version: 'v1',
  resource: 'secrets',
  subresource: '',
  namespace: 'ns',
  name: 'n',
} as const;

/** Allows paths and nothing else, and records each call. */
function start() {
  const decided: AccessAttributes[] = [];
  let known = new Map<string, AccessDecision>();
  const authorize = cacheDecisions(
    (_user, attributes) => {
      decided.push(attributes);
      return { allowed: attributes.kind === 'path', reason: '' };
    },
    () => known,
  );
  const forget = (): void => {
    known = new Map();
  };
  return { authorize, decided, forget };
}

test('cacheDecisions() decides equal requests once, and again after a change', () => {
  const { authorize, decided, forget } = start();
  authorize(jane, secret);
  authorize({ ...jane }, { ...secret });
  assert.equal(decided.length, 1);
  forget();
  authorize(jane, secret);
  assert.equal(decided.length, 2);
});

test('cacheDecisions() decides again for another user, group, verb, namespace or name', () => {
  const { authorize, decided } = start();
  const requests: readonly (readonly [User, AccessAttributes])[] = [
    [jane, secret],
    [{ ...jane, name: 'joe' }, secret],
    [{ ...jane, groups: ['a', 'b'] }, secret],
    [{ ...jane, groups: ['a","b'] }, secret],
    [jane, { ...secret, verb: 'list' }],
    [jane, { ...secret, group: 'g' }],
    [jane, { ...secret, resource: 'pods' }],
    [jane, { ...secret, subresource: 's' }],
    [jane, { ...secret, namespace: '' }],
    [jane, { ...secret, name: '' }],
    [jane, { ...secret, namespace: 'nsn', name: '' }],
    [jane, { kind: 'path', verb: 'get', path: 'secrets' }],
  ];
  for (const [user, attributes] of requests) authorize(user, attributes);
  assert.equal(decided.length, requests.length);
});

test('cacheDecisions() does not confuse requests that contain the separator', () => {
  const { authorize } = start();
  const { verb, group, resource, subresource, namespace, name } = secret;
  const path = [group, resource, subresource, namespace, name].join('\u0000');
  assert.equal(authorize(jane, { kind: 'path', verb, path }).allowed, true);
  assert.equal(authorize(jane, secret).allowed, false);
  const shifted = { ...secret, namespace: 'ns\u0000n', name: '' };
  assert.equal(authorize(jane, shifted).allowed, false);
});
