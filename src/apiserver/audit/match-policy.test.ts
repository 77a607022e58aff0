import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { User } from '../access/user.ts';
import { parseRequest } from '../request/request-info.ts';
import { createPolicyMatcher } from './match-policy.ts';
import { type AuditRule, parseAuditPolicy } from './policy.ts';

const jane: User = { name: 'jane', groups: ['dev', 'system:authenticated'] };

/** Whether a rule in flow form matches a request. */
function matches(rule: string, line: string): boolean {
  const text = `{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Request, ${rule}}]}`;
  const [method = '', path = ''] = line.split(' ');
  const attributes = parseRequest(method, path, new URLSearchParams());
  return (
    createPolicyMatcher(parseAuditPolicy(text, 'p'))({ user: jane, attributes }).level === 'Request'
  );
}

const pod = 'GET /api/v1/namespaces/a/pods/web';
const log = 'GET /api/v1/namespaces/a/pods/web/log';
const cases: readonly (readonly [string, string, boolean])[] = [
  ['', pod, true],
  ['', 'GET /healthz', true],
  ['users: [jane]', pod, true],
  ['users: [joe]', pod, false],
  ['userGroups: [ops, dev]', pod, true],
  ['userGroups: [ops]', pod, false],
  ['verbs: [get]', pod, true],
  ['verbs: [list]', pod, false],
  ['namespaces: [a]', pod, true],
  ['namespaces: [b]', pod, false],
  ['namespaces: [""]', 'GET /api/v1/nodes/n', true],
  ['namespaces: [a]', 'GET /healthz', false],
  ['resources: [{}]', pod, true],
  ['resources: [{group: apps}]', pod, false],
  ['resources: [{resources: [pods]}]', pod, true],
  ['resources: [{resources: [pods]}]', log, false],
  ['resources: [{resources: [pods/log]}]', log, true],
  ['resources: [{resources: ["pods/*"]}]', log, true],
  ['resources: [{resources: ["pods/*"]}]', pod, false],
  ['resources: [{resources: ["*/log"]}]', log, true],
  ['resources: [{resources: ["*"]}]', log, true],
  ['resources: [{resources: [pods], resourceNames: [web]}]', pod, true],
  ['resources: [{resources: [pods], resourceNames: [db]}]', pod, false],
  ['nonResourceURLs: [/healthz]', 'GET /healthz', true],
  ['nonResourceURLs: [/health*]', 'GET /healthz', true],
  ['nonResourceURLs: ["*"]', 'GET /healthz', true],
  ['nonResourceURLs: ["*"]', pod, false],
  ['nonResourceURLs: [/livez]', 'GET /healthz', false],
];

for (const [rule, line, wanted] of cases) {
  test(`a rule with "${rule}" ${wanted ? 'matches' : 'does not match'} ${line}`, () => {
    assert.equal(matches(rule, line), wanted);
  });
}

test('who could not prove who he is matches no rule about users', () => {
  const attributes = parseRequest('GET', '/api/v1/pods', new URLSearchParams());
  for (const rule of ['users: [jane]', 'userGroups: [dev]']) {
    const text = `{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Request, ${rule}}]}`;
    const match = createPolicyMatcher(parseAuditPolicy(text, 'p'));
    assert.equal(match({ user: undefined, attributes }).level, 'None');
  }
});

test('the first rule that matches counts, and without one there is nothing', () => {
  const empty: Omit<AuditRule, 'level'> = {
    users: [],
    userGroups: [],
    verbs: [],
    resources: [],
    namespaces: [],
    nonResourceURLs: [],
    omitStages: [],
  };
  const match = createPolicyMatcher({
    rules: [
      { ...empty, level: 'None', verbs: ['get'], omitStages: ['Panic'] },
      { ...empty, level: 'Metadata', verbs: ['get', 'list'], omitManagedFields: false },
    ],
    omitStages: ['RequestReceived'],
    omitManagedFields: true,
  });
  const at = (line: string) => {
    const [method = '', path = ''] = line.split(' ');
    return match({ user: jane, attributes: parseRequest(method, path, new URLSearchParams()) });
  };
  assert.deepEqual(at(pod), {
    level: 'None',
    omitStages: ['RequestReceived', 'Panic'],
    omitManagedFields: true,
  });
  assert.deepEqual(at('GET /api/v1/pods'), {
    level: 'Metadata',
    omitStages: ['RequestReceived'],
    omitManagedFields: false,
  });
  assert.equal(at('POST /api/v1/namespaces').level, 'None');
});
