import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AuditPolicyError, parseAuditPolicy } from './policy.ts';

const head = 'apiVersion: audit.k8s.io/v1\nkind: Policy\n';

test('parseAuditPolicy() reads a policy as people write them', () => {
  const policy = parseAuditPolicy(
    `${head}
omitStages: [RequestReceived]
omitManagedFields: true
rules:
  - level: RequestResponse
    verbs: [create, delete]
    resources:
      - group: ""
        resources: [pods, "services/*"]
        resourceNames: [web]
    namespaces: [shop]
    omitManagedFields: false
  - level: None
    users: ["system:kube-proxy"]
    userGroups: ["system:nodes"]
    nonResourceURLs: ["/healthz*", "*"]
    omitStages: [Panic]
`,
    'p.yaml',
  );
  const nothing = {
    users: [],
    userGroups: [],
    verbs: [],
    resources: [],
    namespaces: [],
    nonResourceURLs: [],
    omitStages: [],
  };
  assert.deepEqual(policy, {
    omitStages: ['RequestReceived'],
    omitManagedFields: true,
    rules: [
      {
        ...nothing,
        level: 'RequestResponse',
        verbs: ['create', 'delete'],
        resources: [{ group: '', resources: ['pods', 'services/*'], resourceNames: ['web'] }],
        namespaces: ['shop'],
        omitManagedFields: false,
      },
      {
        ...nothing,
        level: 'None',
        users: ['system:kube-proxy'],
        userGroups: ['system:nodes'],
        nonResourceURLs: ['/healthz*', '*'],
        omitStages: ['Panic'],
      },
    ],
  });
});

const bad: Readonly<Record<string, string>> = {
  'a: [': 'not valid YAML',
  '[]': 'the document: must be an object',
  'apiVersion: audit.k8s.io/v1beta1\nkind: Policy\nrules: [{level: None}]':
    'apiVersion: must be audit.k8s.io/v1, found "audit.k8s.io/v1beta1"',
  'apiVersion: audit.k8s.io/v1\nkind: Pod\nrules: [{level: None}]':
    'kind: must be Policy, found "Pod"',
  [`${head}rules: []`]: 'rules: there must be at least one',
  [`${head}rules: {}`]: 'rules: must be a list',
  [`${head}rules: [{}]`]: 'rules[0].level: must be one of None, Metadata, Request, RequestResponse',
  [`${head}rules: [{level: All}]`]: 'found "All"',
  [`${head}rules: [{level: None, verb: [get]}]`]: 'rules[0].verb: unknown field',
  [`${head}rules: [{level: None, verbs: get}]`]: 'rules[0].verbs: must be a list',
  [`${head}rules: [{level: None, verbs: [1]}]`]: 'rules[0].verbs[0]: must be a text',
  [`${head}rules: [{level: None, omitStages: [End]}]`]: 'rules[0].omitStages: must be one of',
  [`${head}rules: [{level: None, omitManagedFields: 1}]`]: 'must be true or false',
  [`${head}rules: [{level: None, nonResourceURLs: [/a], namespaces: [b]}]`]:
    'rules[0]: rules cannot apply to both regular resources and non-resource URLs',
  [`${head}rules: [{level: None, nonResourceURLs: [a]}]`]:
    "rules[0].nonResourceURLs[0]: non-resource URL rules must begin with a '/' character",
  [`${head}rules: [{level: None, nonResourceURLs: ['/*/a']}]`]:
    "wildcards '*' must be the final character",
  [`${head}rules: [{level: None, resources: [{resourceNames: [a]}]}]`]:
    'using resourceNames requires at least one resource',
  [`${head}rules: [{level: None, resources: [{group: apps/v1}]}]`]: 'must not include a version',
};

for (const [text, why] of Object.entries(bad)) {
  test(`parseAuditPolicy() refuses ${JSON.stringify(text)}`, () => {
    assert.throws(
      () => parseAuditPolicy(text, '/etc/audit.yaml'),
      (error) =>
        error instanceof AuditPolicyError &&
        error.message.startsWith('Cannot use the audit policy "/etc/audit.yaml": ') &&
        error.message.includes(why),
    );
  });
}

test('parseAuditPolicy() names all problems at once', () => {
  assert.throws(
    () => parseAuditPolicy(`${head}rules: [{level: A}, {level: B}]`, 'p'),
    /rules\[0\]\.level: .*; rules\[1\]\.level: /,
  );
});
