import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isApiError, type Status } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import { decode } from '../../schema/decode.ts';
import { createAuthenticator } from '../access/authenticate.ts';
import { createAuthorizer } from '../access/authorize.ts';
import {
  exampleBinding,
  exampleReader,
  exampleRole,
  exampleUser,
  toUser,
} from '../access/example.ts';
import type { User } from '../access/user.ts';
import { reviewKinds } from './all.ts';

const podReader = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] };
const authorizer = createAuthorizer(
  exampleReader([
    exampleRole('ns', 'r', [podReader, { verbs: ['get'], nonResourceURLs: ['/x'] }]),
    exampleBinding({ namespace: 'ns', name: 'b', role: 'Role/r', subjects: [toUser('u')] }),
    exampleBinding({ namespace: 'ns', name: 'lost', role: 'Role/nope', subjects: [toUser('l')] }),
  ]),
);
const authenticator = createAuthenticator({
  tokens: [
    (token) =>
      token === 'good'
        ? { user: { name: 't', uid: '1', groups: ['g'], extra: { k: ['v'] } }, audiences: ['here'] }
        : undefined,
  ],
  now: () => 0,
});
const admin = exampleUser('admin', 'system:masters');
const now = '2026-01-02T03:04:05Z';

/** What a POST of the body gives, after its trip through the decoder. */
function post(plural: string, body: object, { user = admin, namespace = '' } = {}): KubeObject {
  const kind = reviewKinds.find((candidate) => candidate.plural === plural);
  assert.ok(kind);
  const decoded = decode(kind.schema, body);
  assert.equal(decoded.error, undefined);
  return kind.create(decoded.object as KubeObject, {
    user,
    authorizer,
    authenticator,
    namespace,
    now,
  });
}

type Case = {
  readonly title: string;
  readonly plural: string;
  readonly body: object;
  readonly user?: User;
  readonly namespace?: string;
  readonly answer: object;
};

const access = { apiVersion: 'authorization.k8s.io/v1' };
const getPods = (namespace: string) => ({ verb: 'get', resource: 'pods', namespace });
const because = 'RBAC: allowed by RoleBinding "b/ns" of Role "r" to User "u"';

const answers: readonly Case[] = [
  {
    title: 'tells the administrator that he may, without a reason',
    plural: 'selfsubjectaccessreviews',
    body: {
      spec: { resourceAttributes: { verb: '*', group: '*', resource: '*' } },
      status: { allowed: false },
    },
    answer: {
      ...access,
      kind: 'SelfSubjectAccessReview',
      metadata: {},
      spec: { resourceAttributes: { verb: '*', group: '*', resource: '*' } },
      status: { allowed: true },
    },
  },
  {
    title: 'answers for paths',
    plural: 'selfsubjectaccessreviews',
    user: exampleUser('u'),
    body: { spec: { nonResourceAttributes: { verb: 'get', path: '/metrics' } } },
    answer: {
      ...access,
      kind: 'SelfSubjectAccessReview',
      metadata: {},
      spec: { nonResourceAttributes: { verb: 'get', path: '/metrics' } },
      status: { allowed: false },
    },
  },
  {
    title: 'answers for another user with the reason',
    plural: 'subjectaccessreviews',
    body: {
      metadata: { namespace: 'dropped' },
      spec: { user: 'u', resourceAttributes: getPods('ns') },
    },
    answer: {
      ...access,
      kind: 'SubjectAccessReview',
      metadata: {},
      spec: { user: 'u', resourceAttributes: getPods('ns') },
      status: { allowed: true, reason: because },
    },
  },
  {
    title: 'tells of selectors that it cannot read',
    plural: 'subjectaccessreviews',
    body: {
      spec: {
        user: 'u',
        resourceAttributes: {
          ...getPods('ns'),
          fieldSelector: {
            requirements: [
              { key: 'a', operator: 'In', values: ['b'] },
              { key: 'a', operator: 'Exists' },
            ],
          },
          labelSelector: { rawSelector: 'a in' },
        },
      },
    },
    answer: {
      ...access,
      kind: 'SubjectAccessReview',
      metadata: {},
      spec: {
        user: 'u',
        resourceAttributes: {
          ...getPods('ns'),
          fieldSelector: {
            requirements: [
              { key: 'a', operator: 'In', values: ['b'] },
              { key: 'a', operator: 'Exists' },
            ],
          },
          labelSelector: { rawSelector: 'a in' },
        },
      },
      status: {
        allowed: true,
        reason: because,
        evaluationError:
          'spec.resourceAttributes.fieldSelector partially ignored due to parse error; spec.resourceAttributes.labelSelector ignored due to parse error',
      },
    },
  },
  {
    title: 'answers within a namespace',
    plural: 'localsubjectaccessreviews',
    namespace: 'ns',
    body: { spec: { user: 'u', resourceAttributes: getPods('ns') } },
    answer: {
      ...access,
      kind: 'LocalSubjectAccessReview',
      metadata: { namespace: 'ns' },
      spec: { user: 'u', resourceAttributes: getPods('ns') },
      status: { allowed: true, reason: because },
    },
  },
  {
    title: 'lists the rules of the asking user',
    plural: 'selfsubjectrulesreviews',
    user: exampleUser('u'),
    body: { spec: { namespace: 'ns' } },
    answer: {
      ...access,
      kind: 'SelfSubjectRulesReview',
      metadata: {},
      spec: {},
      status: {
        resourceRules: [podReader],
        nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }],
        incomplete: false,
      },
    },
  },
  {
    title: 'lists no rules and says what is missing',
    plural: 'selfsubjectrulesreviews',
    user: exampleUser('l'),
    body: { spec: { namespace: 'ns' } },
    answer: {
      ...access,
      kind: 'SelfSubjectRulesReview',
      metadata: {},
      spec: {},
      status: {
        resourceRules: [],
        nonResourceRules: [],
        incomplete: false,
        evaluationError: 'role.rbac.authorization.k8s.io "nope" not found',
      },
    },
  },
  {
    title: 'tells whose a token is',
    plural: 'tokenreviews',
    body: { spec: { token: 'good' } },
    answer: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      metadata: {},
      spec: { token: 'good' },
      status: {
        authenticated: true,
        user: {
          username: 't',
          uid: '1',
          groups: ['g', 'system:authenticated'],
          extra: { k: ['v'] },
        },
        audiences: ['here'],
      },
    },
  },
  {
    title: 'tells that a token is none',
    plural: 'tokenreviews',
    body: { spec: { token: 'nonsense' } },
    answer: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      metadata: {},
      spec: { token: 'nonsense' },
      status: { error: 'invalid bearer token', user: {} },
    },
  },
  {
    title: 'tells who asks',
    plural: 'selfsubjectreviews',
    body: {},
    answer: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'SelfSubjectReview',
      metadata: { creationTimestamp: now },
      status: { userInfo: { username: 'admin', groups: ['system:masters'] } },
    },
  },
];

for (const { title, plural, body, answer, user = admin, namespace = '' } of answers) {
  test(`${plural} ${title}`, () =>
    assert.deepEqual(post(plural, body, { user, namespace }), answer));
}

const invalid = (detail: string): string => `.authorization.k8s.io "" is invalid: ${detail}`;

const refusals: readonly {
  readonly title: string;
  readonly plural: string;
  readonly body: object;
  readonly namespace?: string;
  readonly code: number;
  readonly message: string;
}[] = [
  {
    title: 'another namespace than its own',
    plural: 'localsubjectaccessreviews',
    namespace: 'ns',
    body: {
      metadata: { namespace: 'ns' },
      spec: { user: 'u', resourceAttributes: getPods('default') },
    },
    code: 422,
    message: invalid(
      'spec.resourceAttributes.namespace: Invalid value: "default": must match metadata.namespace',
    ),
  },
  {
    title: 'a body for another namespace',
    plural: 'localsubjectaccessreviews',
    namespace: 'ns',
    body: { metadata: { namespace: 'x' }, spec: { user: 'u', resourceAttributes: getPods('x') } },
    code: 400,
    message:
      'the namespace of the provided object does not match the namespace sent on the request',
  },
  {
    title: 'paths in a namespace',
    plural: 'localsubjectaccessreviews',
    namespace: 'ns',
    body: { spec: { user: 'u', nonResourceAttributes: { path: '/x' } } },
    code: 422,
    message: invalid(
      'spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":""}: disallowed on this kind of request',
    ),
  },
  {
    title: 'no question',
    plural: 'selfsubjectaccessreviews',
    body: { spec: {} },
    code: 422,
    message: invalid(
      'spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
    ),
  },
  {
    title: 'two kinds of attributes, no subject, and a name',
    plural: 'subjectaccessreviews',
    body: {
      metadata: { name: 'x' },
      spec: { resourceAttributes: {}, nonResourceAttributes: { path: '/', verb: 'get' } },
    },
    code: 422,
    message: invalid(
      '[spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":"get"}: cannot be specified in combination with resourceAttributes, spec.user: Invalid value: "": at least one of user or group must be specified, metadata: Invalid value: {"name":"x"}: must be empty]',
    ),
  },
  {
    title: 'bad selectors',
    plural: 'selfsubjectaccessreviews',
    body: {
      spec: {
        resourceAttributes: {
          fieldSelector: { rawSelector: 'a=b', requirements: [{ key: '', operator: 'In' }] },
          labelSelector: { requirements: [{ key: 'a', operator: 'Exists', values: ['b'] }] },
        },
      },
    },
    code: 422,
    message: invalid(
      "[spec.resourceAttributes.fieldSelector.rawSelector: Invalid value: \"a=b\": may not specified at the same time as requirements, spec.resourceAttributes.fieldSelector.requirements[0].key: Required value: must be specified, spec.resourceAttributes.fieldSelector.requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn', spec.resourceAttributes.labelSelector.requirements[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist']",
    ),
  },
  {
    title: 'a selector that no request has room for',
    plural: 'selfsubjectaccessreviews',
    body: {
      spec: { resourceAttributes: { labelSelector: { rawSelector: 'a,'.repeat(40_000) } } },
    },
    code: 422,
    message: invalid(
      'spec.resourceAttributes.labelSelector.rawSelector: Too long: may not be more than 65536 bytes',
    ),
  },
  {
    title: 'no namespace',
    plural: 'selfsubjectrulesreviews',
    body: { spec: {} },
    code: 400,
    message: 'no namespace on request',
  },
  {
    title: 'no token',
    plural: 'tokenreviews',
    body: { spec: {} },
    code: 400,
    message: 'token is required for TokenReview in authentication',
  },
];

for (const { title, plural, body, namespace = '', code, message } of refusals) {
  test(`${plural} refuses ${title}`, () => {
    assert.throws(
      () => post(plural, body, { namespace }),
      (error) => {
        assert.ok(isApiError(error));
        const status: Status = error.status;
        assert.deepEqual({ code: status.code, message: status.message }, { code, message });
        assert.ok(!('kind' in (status.details ?? {})));
        return true;
      },
    );
  });
}

test('a review of rules shows no more of them than fit into an answer, and says so', () => {
  const names = Array.from({ length: 9_000 }, (_, n) => `${n}`.padEnd(200, 'x'));
  const rules = [{ ...podReader, resourceNames: names }];
  const roles = Array.from({ length: 20 }, (_, n) => exampleRole('ns', `r${n}`, rules));
  const bindings = roles.map(({ metadata: { name = '' } }) =>
    exampleBinding({ namespace: 'ns', name, role: `Role/${name}`, subjects: [toUser('u')] }),
  );
  const kind = reviewKinds.find(({ plural }) => plural === 'selfsubjectrulesreviews');
  assert.ok(kind);
  const { object } = decode(kind.schema, { spec: { namespace: 'ns' } });
  const { status } = kind.create(object as KubeObject, {
    user: exampleUser('u'),
    authorizer: createAuthorizer(exampleReader([...roles, ...bindings])),
    authenticator,
    namespace: '',
    now,
  }) as KubeObject & { readonly status: Readonly<Record<string, unknown>> };
  assert.deepEqual(status.resourceRules, [rules[0], rules[0]]);
  assert.equal(status.incomplete, true);
  assert.equal(status.evaluationError, 'only the first 2 of 20 rules are shown');
});
