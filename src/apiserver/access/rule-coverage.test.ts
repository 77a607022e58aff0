import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicyRule } from '../../kinds/rbac/types.ts';
import { describeRules, missingRules } from './rule-coverage.ts';

const on = (resources: string, verbs: string, names?: string): PolicyRule => ({
  verbs: verbs.split(' '),
  apiGroups: [''],
  resources: resources.split(' '),
  ...(names === undefined ? {} : { resourceNames: names.split(' ') }),
});
const paths = (urls: string, verbs: string): PolicyRule => ({
  verbs: verbs.split(' '),
  nonResourceURLs: urls.split(' '),
});

const cases: readonly {
  readonly title: string;
  readonly owned: readonly PolicyRule[];
  readonly wanted: readonly PolicyRule[];
  readonly lines: readonly string[];
}[] = [
  {
    title: 'nothing when all is held',
    owned: [on('pods', 'get list')],
    wanted: [on('pods', 'get')],
    lines: [],
  },
  {
    title: 'nothing when several rules hold it together',
    owned: [on('pods', 'get'), on('services', 'get')],
    wanted: [on('pods services', 'get')],
    lines: [],
  },
  {
    title: 'nothing for stars',
    owned: [on('*', '*')],
    wanted: [on('pods/status secrets', 'get x')],
    lines: [],
  },
  {
    title: 'nothing for a star and its subresource',
    owned: [on('*/scale', 'get')],
    wanted: [on('a/scale', 'get')],
    lines: [],
  },
  {
    title: 'verbs on one thing in one line',
    owned: [on('pods', 'get')],
    wanted: [on('pods services', 'get list watch')],
    lines: [
      '{APIGroups:[""], Resources:["pods"], Verbs:["list" "watch"]}',
      '{APIGroups:[""], Resources:["services"], Verbs:["get" "list" "watch"]}',
    ],
  },
  {
    title: 'all names when only some are held',
    owned: [on('pods', 'get', 'a')],
    wanted: [on('pods', 'get', 'a b'), on('pods', 'get')],
    lines: [
      '{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}',
      '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}',
    ],
  },
  {
    title: 'a star that is not held as a star',
    owned: [on('pods', 'get')],
    wanted: [on('pods', '*')],
    lines: ['{APIGroups:[""], Resources:["pods"], Verbs:["*"]}'],
  },
  {
    title: 'paths, each with each verb',
    owned: [paths('/api/*', 'get')],
    wanted: [paths('/api/v1 /metrics', 'get post')],
    lines: [
      '{NonResourceURLs:["/api/v1"], Verbs:["post"]}',
      '{NonResourceURLs:["/metrics"], Verbs:["get"]}',
      '{NonResourceURLs:["/metrics"], Verbs:["post"]}',
    ],
  },
];

for (const { title, owned, wanted, lines } of cases) {
  test(`missingRules() finds ${title}`, () => {
    assert.deepEqual(describeRules(missingRules(owned, wanted)), lines);
  });
}
