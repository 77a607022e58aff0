// Attempts of privilege escalation by users with few rights, as a table: user, attempt, request, and expected status code.
import { makeCertificateRequest } from '../../src/apiserver/certificates/x509.ts';

export const rbacGroup = 'rbac.authorization.k8s.io';
export const rbac = `/apis/${rbacGroup}/v1`;
export const home = '/api/v1/namespaces/home';
export const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
export const merge = 'application/merge-patch+json';
export const apply = 'application/apply-patch+yaml';

export type Rule = {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
};
const rule = (
  verbs: string,
  group: string,
  resources: string,
  resourceNames?: readonly string[],
): Rule => ({
  verbs: verbs.split(','),
  apiGroups: [group],
  resources: resources.split(','),
  ...(resourceNames && { resourceNames }),
});

/** Bound in the whole cluster. Nodes have what they have. */
export const users: Readonly<Record<string, readonly Rule[]>> = {
  'system:node:n1': [],
  unprivileged: [],
  changer: [rule('get,update,patch', '*', '*')],
  'role-writer': [
    rule(
      '*',
      rbacGroup,
      '*'.replace('*', 'roles,clusterroles,rolebindings,clusterrolebindings'),
      undefined,
    ),
  ].map((one) => ({ ...one, verbs: ['get', 'list', 'create', 'update', 'patch', 'delete'] })),
  'one-secret': [rule('get,list,watch', '', 'secrets', ['s1'])],
  'as-alice': [rule('impersonate', '', 'users', ['alice'])],
  'pod-status': [rule('get,update,patch', '', 'pods/status')],
  scaler: [rule('get,update,patch', 'apps', 'deployments/scale')],
  'request-writer': [
    rule('create,get,update,patch', 'certificates.k8s.io', 'certificatesigningrequests'),
    rule('update,patch', 'certificates.k8s.io', 'certificatesigningrequests/approval'),
    rule('update,patch', 'certificates.k8s.io', 'certificatesigningrequests/status'),
  ],
  'token-reader': [rule('get,list', '', 'serviceaccounts')],
};

export type Attempt = {
  readonly user: string;
  readonly what: string;
  readonly method: string;
  readonly path: string;
  readonly code: number;
  readonly body?: object;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
};
type More = Pick<Attempt, 'body' | 'type' | 'headers'>;

export const by =
  (user: string) =>
  (what: string, call: string, code: number, more: More = {}): Attempt => {
    const [method = '', path = ''] = call.split(' ');
    return { user, what, method, path, code, ...more };
  };

export const named = (name: string, rest: object = {}): object => ({ metadata: { name }, ...rest });
const everything = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }];
const admin = { apiGroup: rbacGroup, kind: 'ClusterRole', name: 'cluster-admin' };
export const subject = (name: string): object => ({ kind: 'User', apiGroup: rbacGroup, name });
export const acting = (name: string, ...groups: readonly string[]): More => ({
  headers: {
    'impersonate-user': name,
    ...(groups.length > 0 && { 'impersonate-group': groups.join() }),
  },
});

const changer = by('changer');
const roleWriter = by('role-writer');
const withKind = (kind: string, body: object): object => ({
  apiVersion: `${rbacGroup}/v1`,
  kind,
  ...body,
});

const ofWriters: readonly Attempt[] = [
  changer('creates a ConfigMap by apply', `PATCH ${home}/configmaps/new?fieldManager=a`, 403, {
    body: { apiVersion: 'v1', kind: 'ConfigMap', ...named('new') },
    type: apply,
  }),
  changer(
    'creates a Lease by PUT',
    'PUT /apis/coordination.k8s.io/v1/namespaces/home/leases/new',
    403,
    {
      body: named('new'),
    },
  ),
  changer('gives itself a role by patch', `PATCH ${rbac}/clusterrolebindings/changer`, 403, {
    body: { subjects: [subject('changer')], roleRef: admin },
    type: merge,
  }),
  changer('adds rules to its role', `PATCH ${rbac}/clusterroles/changer`, 403, {
    body: { rules: everything },
    type: merge,
  }),
  changer(
    'adds rules to its role by apply',
    `PATCH ${rbac}/clusterroles/changer?fieldManager=a&force=true`,
    403,
    {
      body: withKind('ClusterRole', { ...named('changer'), rules: everything }),
      type: apply,
    },
  ),
  changer('adds rules to its role by a JSON patch', `PATCH ${rbac}/clusterroles/changer`, 403, {
    body: [{ op: 'add', path: '/rules/-', value: everything[0] }],
    type: 'application/json-patch+json',
  }),
  changer('makes its role gather others', `PATCH ${rbac}/clusterroles/changer`, 403, {
    body: { aggregationRule: { clusterRoleSelectors: [{}] } },
    type: merge,
  }),
  changer('renames what it changes', `PUT ${home}/secrets/s1`, 400, { body: named('s2') }),
  changer('moves what it changes', `PUT ${home}/secrets/s1`, 400, {
    body: { metadata: { name: 's1', namespace: 'kube-system' } },
  }),
  changer(
    'acts as the administrator',
    `GET ${home}/secrets`,
    403,
    acting('admin', 'system:masters'),
  ),
  roleWriter('creates a role with all rights', `POST ${rbac}/clusterroles`, 403, {
    body: { ...named('all'), rules: everything },
  }),
  roleWriter('creates a role with the right to act as others', `POST ${rbac}/clusterroles`, 403, {
    body: { ...named('all'), rules: [rule('impersonate', '', 'users,groups')] },
  }),
  roleWriter('creates a role with the right to escalate', `POST ${rbac}/clusterroles`, 403, {
    body: { ...named('all'), rules: [rule('escalate,bind', rbacGroup, 'clusterroles')] },
  }),
  roleWriter('creates a role with rights to paths', `POST ${rbac}/clusterroles`, 403, {
    body: { ...named('all'), rules: [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }] },
  }),
  roleWriter('binds itself to the administrator', `POST ${rbac}/clusterrolebindings`, 403, {
    body: { ...named('own'), subjects: [subject('role-writer')], roleRef: admin },
  }),
  roleWriter(
    'binds itself in a namespace',
    `POST ${rbac}/namespaces/kube-system/rolebindings`,
    403,
    {
      body: { ...named('own'), subjects: [subject('role-writer')], roleRef: admin },
    },
  ),
  roleWriter('binds itself by apply', `PATCH ${rbac}/clusterrolebindings/own?fieldManager=a`, 403, {
    body: withKind('ClusterRoleBinding', {
      ...named('own'),
      subjects: [subject('role-writer')],
      roleRef: admin,
    }),
    type: apply,
  }),
  roleWriter('binds itself by PUT', `PUT ${rbac}/clusterrolebindings/own`, 403, {
    body: { ...named('own'), subjects: [subject('role-writer')], roleRef: admin },
  }),
  roleWriter(
    'puts itself into the binding of the administrator',
    `PATCH ${rbac}/clusterrolebindings/cluster-admin`,
    403,
    {
      body: { subjects: [subject('role-writer')] },
      type: merge,
    },
  ),
  roleWriter('binds itself in a dry run', `POST ${rbac}/clusterrolebindings?dryRun=All`, 403, {
    body: { ...named('own'), subjects: [subject('role-writer')], roleRef: admin },
  }),
];

const oneSecret = by('one-secret');
const alice = by('as-alice');
const requestWriter = by('request-writer');

const ofOthers: readonly Attempt[] = [
  oneSecret('lists all Secrets', `GET ${home}/secrets`, 403),
  oneSecret('reads another', `GET ${home}/secrets/s2`, 403),
  oneSecret('selects another', `GET ${home}/secrets?fieldSelector=metadata.name%3Ds2`, 403),
  oneSecret(
    'selects all but its own',
    `GET ${home}/secrets?fieldSelector=metadata.name!%3Ds1`,
    403,
  ),
  oneSecret('writes the name with an encoded slash', `GET ${home}/secrets%2Fs2`, 403),
  oneSecret('climbs from its own to another', `GET ${home}/secrets/s1/../s2`, 403),
  oneSecret('doubles slashes', `GET /api/v1//namespaces/home//secrets//s2`, 403),
  oneSecret('watches another by the old path', `GET /api/v1/watch/namespaces/home/secrets/s2`, 403),
  oneSecret(
    'deletes all with the name in a selector',
    `DELETE ${home}/secrets?fieldSelector=metadata.name%3Ds1`,
    403,
  ),
  alice('acts as another than alice', `GET ${home}/secrets`, 403, acting('bob')),
  alice('puts alice into a group', `GET ${home}/secrets`, 403, acting('alice', 'system:masters')),
  alice('gives alice a UID', `GET ${home}/secrets`, 403, {
    headers: { 'impersonate-user': 'alice', 'impersonate-uid': '1' },
  }),
  alice('gives alice attributes', `GET ${home}/secrets`, 403, {
    headers: { 'impersonate-user': 'alice', 'impersonate-extra-scopes': 'all' },
  }),
  alice('acts as a group alone', `GET ${home}/secrets`, 400, {
    headers: { 'impersonate-group': 'system:masters' },
  }),
  alice('acts as alice, who has nothing', `GET ${home}/secrets`, 403, acting('alice')),
  alice(
    'acts as a service account',
    `GET ${home}/secrets`,
    403,
    acting('system:serviceaccount:home:of-p1'),
  ),
  alice('acts as a node', `GET ${home}/secrets/s1`, 403, acting('system:node:n1', 'system:nodes')),
  requestWriter('asks for the group of administrators', `POST ${requests}`, 403, {
    body: certificateRequest('own', 'root', ['system:masters']),
  }),
  requestWriter(
    'approves without the right for the signer',
    `PATCH ${requests}/pending/approval`,
    403,
    {
      body: { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'r' }] } },
      type: merge,
    },
  ),
  requestWriter('signs without the right for the signer', `PATCH ${requests}/pending/status`, 403, {
    body: { status: { certificate: Buffer.from('x').toString('base64') } },
    type: merge,
  }),
  by('token-reader')('makes a token', `POST ${home}/serviceaccounts/of-p1/token`, 403, {
    body: { spec: {} },
  }),
  by('scaler')(
    'changes more than the scale',
    'PATCH /apis/apps/v1/namespaces/home/deployments/web',
    403,
    {
      body: { spec: { paused: true } },
      type: merge,
    },
  ),
  ...['/metrics', '/openapi/v3', '/apis', '/debug/pprof', '/logs'].map((path) =>
    by('unprivileged')(
      `reads ${path}`,
      `GET ${path}`,
      path === '/apis' || path === '/openapi/v3' ? 200 : 403,
    ),
  ),
];

export function certificateRequest(
  name: string,
  commonName: string,
  organizations: readonly string[],
): object {
  const { request } = makeCertificateRequest({ subject: { commonName, organizations }, names: [] });
  return named(name, {
    spec: {
      request: Buffer.from(request).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth', 'digital signature'],
    },
  });
}

export const userAttempts: readonly Attempt[] = [...ofWriters, ...ofOthers];
