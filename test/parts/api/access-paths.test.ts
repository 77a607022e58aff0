// What is authorized is what is read: for users with rights to one name, to a namespace, to everything or to what a node needs, every form of
// a path and of a selector shows no object that SelfSubjectAccessReview would refuse.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { issueClientCertificate } from '../../../src/apiserver/certificates/authority.ts';
import type { PolicyRule } from '../../../src/kinds/rbac/types.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import { openApiClient } from '../harness/api-client.ts';
import { type MemoryServer, startMemoryServer, testCredentials } from '../harness/memory-server.ts';
import { openReader, type Reader, type Reading, type Shown } from '../harness/read-answer.ts';

const timeout = 300_000;
const rbacGroup = 'rbac.authorization.k8s.io';
const rbac = `/apis/${rbacGroup}/v1`;

const verbs = ['get', 'list', 'watch', 'update', 'patch', 'delete', 'deletecollection'];
const core = (resource: string, name?: string): PolicyRule => ({
  ...{ verbs, apiGroups: [''], resources: [resource] },
  ...(name === undefined ? {} : { resourceNames: [name] }),
});
const oneOfEach = [core('secrets', 'a'), core('namespaces', 'home'), core('nodes', 'n1')];

/** By user: rules bound in the namespace `home`, and rules bound for the whole cluster. */
const rights: Readonly<Record<string, { home?: PolicyRule[]; cluster?: PolicyRule[] }>> = {
  named: { home: oneOfEach },
  unnamed: { home: [core('*')] },
  'named-everywhere': { cluster: oneOfEach },
  'named-together': {
    home: [
      {
        ...{ verbs, apiGroups: ['*'], resourceNames: ['a', 'n1', 'of-n1', 'home'] },
        resources: ['secrets', 'nodes', 'namespaces', 'pods', '*/status'],
      },
    ],
  },
  'watch-only': {
    home: [{ verbs: ['watch'], apiGroups: ['*'], resources: ['*'], resourceNames: ['a'] }],
  },
  'get-only': { home: [{ verbs: ['get'], apiGroups: [''], resources: ['secrets'] }] },
  noRights: {},
};
const node = 'system:node:n1';

const locations = [
  'namespaces/home/secrets',
  'namespaces/home/secrets/',
  '/namespaces//home/secrets',
  'namespaces%2Fhome%2fsecrets',
  'namespaces/home/secrets/a',
  'namespaces/home/secrets/a/',
  'namespaces/home/secrets/%61',
  'namespaces/home/secrets%2Fa',
  'namespaces/home/secrets/a%2F',
  'namespaces/home/secrets/b',
  'namespaces/home/secrets/a/b',
  'namespaces/home/secrets/..%2Fb',
  'namespaces/home/secrets/a/..%2F..%2Fsecrets',
  'namespaces/away/../home/secrets',
  'namespaces/home/../away/secrets/c',
  'namespaces/away/secrets',
  'namespaces//secrets',
  'secrets',
  'secrets/a',
  'secrets/c',
  'namespaces',
  'namespaces/home',
  'namespaces/away',
  'namespaces/home/namespaces',
  'namespaces/home/namespaces/home',
  'namespaces/home/namespaces/away',
  'namespaces/home/status/away',
  'namespaces/home/nodes',
  'namespaces/home/nodes/n1',
  'namespaces/home/nodes/n2',
  'nodes',
  'nodes/n1',
  'nodes/n2',
  'namespaces/home/pods',
  'namespaces/home/pods/of-n1',
  'namespaces/home/pods/of-n2/status',
  'pods',
];

const selections = [
  '',
  'fieldSelector=',
  'fieldSelector',
  'fieldSelector=,',
  'fieldSelector=metadata.name%3Da',
  'fieldSelector=metadata.name%3D%3Da',
  'fieldSelector=metadata.name%3Db',
  'fieldSelector=metadata.name!%3Da',
  'fieldSelector=metadata.name%3Da,metadata.name%3Db',
  'fieldSelector=metadata.name%3Db,metadata.name%3Da',
  'fieldSelector=metadata.name%3Da,metadata.name!%3Da',
  'fieldSelector=metadata.name%3Da&fieldSelector=metadata.name%3Db',
  'fieldSelector=metadata.name%3Db&fieldSelector=metadata.name%3Da',
  'fieldSelector=&fieldSelector=metadata.name%3Da',
  'fieldSelector=metadata.name%3Da&fieldSelector=',
  'fieldselector=metadata.name%3Da',
  'FieldSelector=metadata.name%3Db',
  'field%53elector=metadata.name%3Da',
  'fieldSelector=metadata.name%3Dn1',
  'fieldSelector=metadata.name%3Dof-n1',
  'fieldSelector=metadata.name%3Dhome',
  'fieldSelector=metadata.name%253Da',
  'fieldSelector=metadata.name%3Da%5C,b',
  'fieldSelector=metadata.name%3D',
  'fieldSelector=metadata.namespace%3Daway',
  'fieldSelector=spec.nodeName%3Dn1',
  'fieldSelector=spec.nodeName%3Dn1&fieldSelector=',
  'fieldSelector=&fieldSelector=spec.nodeName%3Dn1',
  'fieldSelector=spec.nodeName%3Dn2,spec.nodeName%3Dn1',
  'labelSelector=team',
  'labelSelector=!nothing',
  'labelSelector=!nothing&fieldSelector=metadata.name%3Da',
  'name=b',
  'namespace=away',
  'watch=0',
  'watch=0&watch=1',
  'watch=1&watch=0&fieldSelector=metadata.name%3Da',
];

const bookmarks = 'allowWatchBookmarks=true';

function* calls(): Generator<{ readonly method: string; readonly path: string }> {
  const get = (prefix: string, location: string, query: string) => ({
    method: 'GET',
    path: `${prefix}${location}?${query}&${bookmarks}`,
  });
  for (const location of locations) {
    for (const selection of selections) {
      yield get('/api/v1/', location, selection);
      yield get('/api/v1/', location, `watch=1&${selection}`);
      yield get('/api/v1/watch/', location, selection);
    }
    yield get('/api//v1/%77atch/', location, 'fieldSelector=');
    yield get('/api/v1/watch/', location, 'watch=0');
    for (const prefix of ['/api/v1/', '/api/v1/watch/']) {
      yield { ...get(prefix, location, ''), method: 'HEAD' };
    }
  }
}

let running: MemoryServer;
const readers = new Map<string, Reader>();

/** The resource of an object as an access review names it. */
const resources: Readonly<Record<string, string>> = {
  Secret: 'secrets',
  Namespace: 'namespaces',
  Node: 'nodes',
  Pod: 'pods',
};

/**
 * What the server itself says about reading this object like this. A node may list its own pods only, by their node; for access
 * control a Namespace is inside itself when its own path is used.
 */
function questionsFor({ verb, object }: Shown): readonly object[] {
  const { kind, metadata } = object;
  const { name = '', namespace = '' } = metadata;
  const resource = resources[kind ?? ''] ?? `unknown ${kind}`;
  const isCollection = verb !== 'get';
  const nodeName = (object as { spec?: { nodeName?: string } }).spec?.nodeName;
  const byNode =
    resource === 'pods' && isCollection && nodeName !== undefined
      ? {
          fieldSelector: {
            requirements: [{ key: 'spec.nodeName', operator: 'In', values: [nodeName] }],
          },
        }
      : {};
  const insides = resource === 'namespaces' ? [name, ''] : [namespace];
  return insides.map((inside) => ({
    verb,
    resource,
    version: 'v1',
    namespace: inside,
    name,
    ...byNode,
  }));
}

const decisions = new Map<string, Promise<boolean>>();

function isAllowed(who: string, question: object): Promise<boolean> {
  const key = JSON.stringify([who, question]);
  let decision = decisions.get(key);
  if (decision === undefined) {
    decision = ask(who, question);
    decisions.set(key, decision);
  }
  return decision;
}

async function ask(who: string, resourceAttributes: object): Promise<boolean> {
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const { text } = await readerOf(who).read({
    method: 'POST',
    path,
    body: { spec: { resourceAttributes } },
  });
  return (JSON.parse(text) as { status: { allowed: boolean } }).status.allowed;
}

function readerOf(who: string): Reader {
  const reader = readers.get(who);
  assert.ok(reader);
  return reader;
}

async function makeWorld(): Promise<void> {
  const { api } = running;
  for (const name of ['home', 'away']) await api.post('/api/v1/namespaces', { metadata: { name } });
  const labels = { team: 'x' };
  for (const [namespace, name] of [
    ['home', 'a'],
    ['home', 'b'],
    ['home', 'of-n1'],
    ['home', 'of-n2'],
    ['away', 'a'],
    ['away', 'c'],
  ]) {
    await api.post(`/api/v1/namespaces/${namespace}/secrets`, { metadata: { name, labels } });
  }
  for (const name of ['n1', 'n2']) {
    await api.post('/api/v1/nodes', { metadata: { name, labels } });
    await api.post('/api/v1/namespaces/home/pods', {
      metadata: { name: `of-${name}`, labels },
      spec: {
        nodeName: name,
        containers: [{ name: 'c', image: 'i' }],
        volumes: [{ name: 'v', secret: { secretName: `of-${name}` } }],
      },
    });
  }
  for (const [user, { home, cluster }] of Object.entries(rights)) {
    const subjects = [{ kind: 'User', apiGroup: rbacGroup, name: user }];
    const metadata = { name: user };
    if (home !== undefined) {
      await api.post(`${rbac}/namespaces/home/roles`, { metadata, rules: home });
      const roleRef = { apiGroup: rbacGroup, kind: 'Role', name: user };
      await api.post(`${rbac}/namespaces/home/rolebindings`, { metadata, subjects, roleRef });
    }
    if (cluster !== undefined) {
      await api.post(`${rbac}/clusterroles`, { metadata, rules: cluster });
      const roleRef = { apiGroup: rbacGroup, kind: 'ClusterRole', name: user };
      await api.post(`${rbac}/clusterrolebindings`, { metadata, subjects, roleRef });
    }
  }
}

/** Requests under way at once: fewer than any limit of the server. */
const atOnce = 8;

type Found = { readonly excess: string[]; readonly bad: string[]; shown: number };

async function excessOf(who: string): Promise<Found> {
  const found: Found = { excess: [], bad: [], shown: 0 };
  const waiting = calls();
  const readSome = async (): Promise<void> => {
    for (let next = waiting.next(); !next.done; next = waiting.next()) {
      const call = next.value;
      const answer: Reading = await readerOf(who).read(call);
      const line = `${call.method} ${call.path}`;
      if (answer.status >= 500) found.bad.push(`${line}: ${answer.status} ${answer.text}`);
      for (const shown of answer.shown) {
        found.shown += 1;
        const answers = await Promise.all(
          questionsFor(shown).map((question) => isAllowed(who, question)),
        );
        if (!answers.includes(true)) {
          const { namespace = '', name } = shown.object.metadata;
          found.excess.push(`${line} shows ${shown.object.kind} ${namespace}/${name}`);
        }
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, readSome));
  return found;
}

describe('what is authorized is what is read', { timeout }, () => {
  before(async () => {
    running = await startMemoryServer();
    await makeWorld();
    const { authority } = testCredentials();
    const { port } = running.server.address;
    for (const commonName of [...Object.keys(rights), node]) {
      const organizations = commonName === node ? ['system:nodes'] : [];
      const pair = issueClientCertificate(authority, {
        commonName,
        organizations,
        days: 1,
        now: Date.now(),
      });
      const tls = { ca: authority.certificate, cert: pair.certificate, key: pair.privateKey };
      readers.set(commonName, await openReader({ port, ...tls }));
    }
  });
  after(async () => {
    for (const reader of readers.values()) reader.close();
    await running.stop();
  });

  testEveryPath();
  testOldPath();
  testFollowing();
  testWrites();
});

function testEveryPath(): void {
  for (const who of [...Object.keys(rights), node]) {
    test(`${who} sees nothing by any path and selector that a review would refuse`, async () => {
      const { excess, bad, shown } = await excessOf(who);
      assert.deepEqual([...new Set(excess)], []);
      assert.deepEqual(bad, []);
      assert.ok(who === 'noRights' ? shown === 0 : shown > 0, `${shown} objects were shown`);
    });
  }
}

function testOldPath(): void {
  const refusals: Readonly<Record<string, readonly [number, string]>> = {
    'secrets/a?fieldSelector=metadata.name%3Db': [
      400,
      "fieldSelector metadata.name doesn't match requested name",
    ],
    'secrets/a?fieldSelector=metadata.namespace%3Dhome': [
      400,
      "fieldSelector metadata.name doesn't match requested name",
    ],
    'secrets/a?fieldSelector=metadata.name!%3Da': [
      400,
      "fieldSelector metadata.name doesn't match requested name",
    ],
    'secrets/b?fieldSelector=metadata.name%3Da': [
      403,
      'secrets "b" is forbidden: User "named" cannot watch resource "secrets" in API group "" in the namespace "home"',
    ],
    'secrets?fieldSelector=metadata.name!%3Da': [
      403,
      'secrets is forbidden: User "named" cannot watch resource "secrets" in API group "" in the namespace "home"',
    ],
  };
  for (const [location, [code, message]] of Object.entries(refusals)) {
    test(`the old path of watches answers ${code} to ${location}`, async () => {
      const { status, text } = await readerOf('named').read({
        method: 'GET',
        path: `/api/v1/watch/namespaces/home/${location}`,
      });
      assert.deepEqual(
        [status, (JSON.parse(text) as { message: string }).message],
        [code, message],
      );
    });
  }
}

function testFollowing(): void {
  for (const location of [
    'watch/namespaces/home/secrets/a',
    'watch/namespaces/home/secrets/a?fieldSelector=',
    'namespaces/home/secrets?watch=1&fieldSelector=metadata.name%3Da',
  ]) {
    test(`a watch of one object has no events of others: ${location}`, async () => {
      const { authority } = testCredentials();
      const { api, server } = running;
      const pair = issueClientCertificate(authority, {
        commonName: 'named',
        days: 1,
        now: Date.now(),
      });
      const client = await openApiClient({
        port: server.address.port,
        ca: authority.certificate,
        cert: pair.certificate,
        key: pair.privateKey,
      });
      const watch = await client.watch(`/api/v1/${location}`);
      const touch = (namespace: string, name: string): Promise<KubeObject> =>
        api.patch(`/api/v1/namespaces/${namespace}/secrets/${name}`, {
          metadata: { annotations: { at: location } },
        });
      for (const [namespace, name] of [
        ['home', 'b'],
        ['away', 'a'],
        ['away', 'c'],
        ['home', 'a'],
      ] as const)
        await touch(namespace, name);
      await watch.until((events) => events.some(({ type }) => type === 'MODIFIED'));
      const seen = watch.events.map(
        ({ object }) => `${object.metadata.namespace}/${object.metadata.name}`,
      );
      assert.deepEqual(new Set(seen), new Set(['home/a']));
      client.close();
    });
  }
}

function testWrites(): void {
  test('a collection is deleted by those only who may delete it whole', async () => {
    const read = (who: string, query: string): Promise<Reading> =>
      readerOf(who).read({
        method: 'DELETE',
        path: `/api/v1/namespaces/home/secrets?dryRun=All&${query}`,
      });
    for (const query of [
      '',
      'fieldSelector=metadata.name%3Da',
      'fieldSelector=',
      'labelSelector=team',
    ]) {
      assert.equal((await read('named', query)).status, 403, query);
    }
    const { shown } = await read('unnamed', 'fieldSelector=metadata.name%3Da&fieldSelector=');
    assert.deepEqual(
      shown.map(({ object }) => object.metadata.name),
      ['a'],
    );
  });

  test('the old path of watches writes nothing, of any kind', async () => {
    const paths = [
      'namespaces/home/bindings',
      'namespaces/home/secrets',
      'namespaces/home/secrets/a',
      'namespaces/home/pods/of-n1/eviction',
    ];
    const posts = paths.flatMap((path) =>
      ['POST', 'PUT', 'PATCH', 'DELETE'].map((method) => ({
        method,
        path: `/api/v1/watch/${path}`,
      })),
    );
    const reviews = [
      'authentication.k8s.io/v1/watch/tokenreviews',
      'authorization.k8s.io/v1/watch/subjectaccessreviews',
    ];
    const all = [...posts, ...reviews.map((path) => ({ method: 'POST', path: `/apis/${path}` }))];
    for (const { method, path } of all) {
      const { status, body } = await running.api.send({ method, path, body: {} });
      assert.ok(
        status === 405 || status === 404,
        `${method} ${path}: ${status} ${JSON.stringify(body)}`,
      );
    }
  });
}
