// Every way to write is seen by admission plugins, in both phases, with the object that the client wrote.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type {
  AdmissionPlugin,
  AdmissionRequest,
} from '../../../src/apiserver/admission/admission.ts';
import type { ApiCall } from '../harness/api-client.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';

const seen: string[] = [];
const describe = (phase: string, request: AdmissionRequest): void => {
  const { operation, definition, subresource, name, before, after } = request;
  const path = [definition.plural, subresource].filter((part) => part !== '').join('/');
  const objects = `${before?.kind ?? '-'}>${after?.kind ?? '-'}`;
  seen.push(`${phase} ${operation} ${path} ${name} ${objects}${request.dryRun ? ' dry' : ''}`);
};
const recorder: AdmissionPlugin = {
  name: 'Recorder',
  onByDefault: false,
  mutate(request) {
    describe('mutate', request);
    return undefined;
  },
  validate(request) {
    describe('validate', request);
    return undefined;
  },
};

let running: MemoryServer;
before(async () => {
  running = await startMemoryServer({
    access: {
      admissionPlugins: {
        enable: ['DenyServiceExternalIPs'],
        disable: ['ServiceAccount'],
        more: [recorder],
      },
    },
  });
  const { api } = running;
  await api.post(services, service('old'));
  await api.post(`${ns}/serviceaccounts`, { metadata: { name: 'builder' } });
  for (const name of ['p', 'q', 'r', 's', 't']) await api.post(pods, { metadata: { name }, spec });
  const selector = { matchLabels: { app: 'a' } };
  const template = { metadata: { labels: { app: 'a' } }, spec };
  await api.post(deployments, { metadata: { name: 'd' }, spec: { selector, template } });
});
after(() => running.stop());
beforeEach(() => {
  seen.length = 0;
});

const ns = '/api/v1/namespaces/default';
const services = `${ns}/services`;
const pods = `${ns}/pods`;
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const spec = { containers: [{ name: 'c', image: 'i' }] };
const service = (name: string, more: object = {}) => ({
  ...{ apiVersion: 'v1', kind: 'Service', metadata: { name } },
  spec: { ports: [{ port: 80 }], ...more },
});
const as = (type: string) => ({ 'content-type': `application/${type}` });
const merge = as('merge-patch+json');
const patch = (path: string, body: unknown, headers: ApiCall['headers'] = merge): ApiCall => ({
  ...{ method: 'PATCH', path, body },
  ...(headers === undefined ? {} : { headers }),
});
const binding = (name: string) => ({
  ...{ apiVersion: 'v1', kind: 'Binding', metadata: { name } },
  target: { kind: 'Node', name: 'n' },
});
const label = { metadata: { labels: { a: 'b' } } };

/** The request, and its attributes as plugins get them in each phase. */
const paths: readonly (readonly [string, ApiCall, string])[] = [
  ['create', { method: 'POST', path: services, body: service('a') }, 'create services a ->Service'],
  [
    'create, dry run',
    {
      method: 'POST',
      path: `${ns}/configmaps?dryRun=All`,
      body: { metadata: { name: 'x' } },
    },
    'create configmaps x ->ConfigMap dry',
  ],
  [
    'update',
    { method: 'PUT', path: `${services}/old`, body: service('old') },
    'update services old Service>Service',
  ],
  [
    'create by update',
    { method: 'PUT', path: `${services}/new`, body: service('new') },
    'create services new ->Service',
  ],
  ['merge patch', patch(`${services}/old`, label), 'update services old Service>Service'],
  [
    'JSON patch',
    patch(
      `${services}/old`,
      [{ op: 'add', path: '/metadata/labels/c', value: 'd' }],
      as('json-patch+json'),
    ),
    'update services old Service>Service',
  ],
  [
    'strategic merge patch',
    patch(`${services}/old`, label, as('strategic-merge-patch+json')),
    'update services old Service>Service',
  ],
  [
    'apply',
    patch(
      `${services}/old?fieldManager=m&force=true`,
      { ...service('old'), ...label, metadata: { name: 'old', labels: { e: 'f' } } },
      as('apply-patch+yaml'),
    ),
    'update services old Service>Service',
  ],
  [
    'create by apply',
    patch(`${services}/applied?fieldManager=m`, service('applied'), as('apply-patch+yaml')),
    'create services applied ->Service',
  ],
  ['status', patch(`${services}/old/status`, label), 'update services/status old Service>Service'],
  [
    'scale by update',
    {
      method: 'PUT',
      path: `${deployments}/d/scale`,
      body: { metadata: { name: 'd', namespace: 'default' }, spec: { replicas: 2 } },
    },
    'update deployments/scale d Scale>Scale',
  ],
  [
    'scale by patch',
    patch(`${deployments}/d/scale`, { spec: { replicas: 3 } }),
    'update deployments/scale d Scale>Scale',
  ],
  [
    'binding of a pod',
    { method: 'POST', path: `${pods}/p/binding`, body: binding('p') },
    'create pods/binding p ->Binding',
  ],
  [
    'binding in the collection',
    { method: 'POST', path: `${ns}/bindings`, body: binding('q') },
    'create pods/binding q ->Binding',
  ],
  [
    'ephemeral containers',
    patch(`${pods}/s/ephemeralcontainers`, {
      spec: { ephemeralContainers: [{ name: 'e', image: 'i' }] },
    }),
    'update pods/ephemeralcontainers s Pod>Pod',
  ],
  [
    'resize',
    patch(`${pods}/t/resize`, {
      spec: { containers: [{ name: 'c', image: 'i', resizePolicy: [] }] },
    }),
    'update pods/resize t Pod>Pod',
  ],
  [
    'token',
    { method: 'POST', path: `${ns}/serviceaccounts/builder/token`, body: { spec: {} } },
    'create serviceaccounts/token builder ->TokenRequest',
  ],
];

for (const [title, call, attributes] of paths) {
  test(`plugins see: ${title}`, { timeout: 30_000 }, async () => {
    const answer = await running.api.send(call);
    assert.ok(answer.status < 300, `${answer.status} ${JSON.stringify(answer.body)}`);
    assert.deepEqual(seen, [`mutate ${attributes}`, `validate ${attributes}`]);
  });
}

test('plugins see an eviction and not the delete that follows', { timeout: 30_000 }, async () => {
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'r' } };
  await running.api.post(`${pods}/r/eviction`, body);
  const attributes = 'create pods/eviction r ->Eviction';
  assert.deepEqual(seen, [`mutate ${attributes}`, `validate ${attributes}`]);
});

test('plugins see each delete of a collection', { timeout: 30_000 }, async () => {
  const { api } = running;
  const labels = { gone: 'yes' };
  for (const name of ['x', 'y']) await api.post(`${ns}/configmaps`, { metadata: { name, labels } });
  seen.length = 0;
  await api.delete(`${ns}/configmaps?labelSelector=gone%3Dyes`);
  assert.deepEqual(seen.toSorted(), [
    'mutate delete configmaps x ->-',
    'mutate delete configmaps y ->-',
  ]);
});

const externalIPs = ['192.0.2.7'];
const denied: readonly (readonly [string, ApiCall])[] = [
  ['POST', { method: 'POST', path: services, body: service('no', { externalIPs }) }],
  ['PUT', { method: 'PUT', path: `${services}/old`, body: service('old', { externalIPs }) }],
  [
    'PUT that creates',
    { method: 'PUT', path: `${services}/no`, body: service('no', { externalIPs }) },
  ],
  ['merge patch', patch(`${services}/old`, { spec: { externalIPs } })],
  [
    'JSON patch',
    patch(
      `${services}/old`,
      [{ op: 'add', path: '/spec/externalIPs', value: externalIPs }],
      as('json-patch+json'),
    ),
  ],
  [
    'strategic merge patch',
    patch(`${services}/old`, { spec: { externalIPs } }, as('strategic-merge-patch+json')),
  ],
  [
    'apply',
    patch(
      `${services}/old?fieldManager=m&force=true`,
      service('old', { externalIPs }),
      as('apply-patch+yaml'),
    ),
  ],
  [
    'apply that creates',
    patch(`${services}/no?fieldManager=m`, service('no', { externalIPs }), as('apply-patch+yaml')),
  ],
];

for (const [title, call] of denied) {
  test(`DenyServiceExternalIPs refuses a ${title} (API-75)`, { timeout: 30_000 }, async () => {
    const { status, body } = await running.api.send(call);
    assert.equal(status, 403, JSON.stringify(body));
    assert.match(body.message ?? '', /Use of external IPs is denied by admission control\.$/);
  });
}
