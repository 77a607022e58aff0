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

/** Allows paths and nothing else, and notes what it is asked. */
function start() {
  const asked: AccessAttributes[] = [];
  let known = new Map<string, AccessDecision>();
  const authorize = cacheDecisions(
    (_user, attributes) => {
      asked.push(attributes);
      return { allowed: attributes.kind === 'path', reason: '' };
    },
    () => known,
  );
  const forget = (): void => {
    known = new Map();
  };
  return { authorize, asked, forget };
}

test('the same question is decided once, and again when something has changed', () => {
  const { authorize, asked, forget } = start();
  authorize(jane, secret);
  authorize({ ...jane }, { ...secret });
  assert.equal(asked.length, 1);
  forget();
  authorize(jane, secret);
  assert.equal(asked.length, 2);
});

test('another user, group, verb, place or name is another question', () => {
  const { authorize, asked } = start();
  const questions: readonly (readonly [User, AccessAttributes])[] = [
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
  for (const [user, attributes] of questions) authorize(user, attributes);
  assert.equal(asked.length, questions.length);
});

test('a question made up to look like another one is not taken for it', () => {
  const { authorize } = start();
  const { verb, group, resource, subresource, namespace, name } = secret;
  const path = [group, resource, subresource, namespace, name].join('\u0000');
  assert.equal(authorize(jane, { kind: 'path', verb, path }).allowed, true);
  assert.equal(authorize(jane, secret).allowed, false);
  const shifted = { ...secret, namespace: 'ns\u0000n', name: '' };
  assert.equal(authorize(jane, shifted).allowed, false);
});
