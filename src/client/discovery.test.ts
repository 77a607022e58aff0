import assert from 'node:assert/strict';
import { test } from 'node:test';
import { discover } from './discovery.ts';
import { jsonAnswer, scriptedTransport } from './example.ts';

const verbs = ['get', 'list'];
const service = {
  group: '',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  singular: 'service',
  namespaced: true,
  shortNames: ['svc'],
  categories: ['all'],
  verbs,
  subresources: ['status'],
  preferred: true,
};
const lease = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  singular: 'lease',
  namespaced: true,
  shortNames: [],
  categories: [],
  verbs,
  subresources: [],
  preferred: true,
};

test('discover() reads the aggregated documents', async () => {
  const list = (items: unknown) => jsonAnswer({ kind: 'APIGroupDiscoveryList', items });
  const resource = (plural: string, kind: string, more: object) => ({
    resource: plural,
    responseKind: { kind },
    scope: 'Namespaced',
    singularResource: kind.toLowerCase(),
    verbs,
    ...more,
  });
  const transport = scriptedTransport(({ path }) =>
    path === '/api'
      ? list([
          {
            metadata: {},
            versions: [
              {
                version: 'v1',
                resources: [
                  resource('services', 'Service', {
                    shortNames: ['svc'],
                    categories: ['all'],
                    subresources: [{ subresource: 'status' }],
                  }),
                ],
              },
            ],
          },
        ])
      : list([
          {
            metadata: { name: 'coordination.k8s.io' },
            versions: [{ version: 'v1', resources: [resource('leases', 'Lease', {})] }],
          },
        ]),
  );
  assert.deepEqual(await discover({ transport, userAgent: 'test' }), [service, lease]);
  assert.equal(transport.requests.length, 2);
});

test('discover() falls back to one request per group without aggregated discovery', async () => {
  const documents: Readonly<Record<string, unknown>> = {
    '/api': { kind: 'APIVersions', versions: ['v1'] },
    '/apis': {
      kind: 'APIGroupList',
      groups: [
        {
          name: 'coordination.k8s.io',
          versions: [{ version: 'v1' }],
          preferredVersion: { version: 'v1' },
        },
      ],
    },
    '/api/v1': {
      resources: [
        {
          name: 'services',
          singularName: 'service',
          namespaced: true,
          kind: 'Service',
          verbs,
          shortNames: ['svc'],
          categories: ['all'],
        },
        { name: 'services/status', singularName: '', namespaced: true, kind: 'Service', verbs },
      ],
    },
    '/apis/coordination.k8s.io/v1': {
      resources: [{ name: 'leases', singularName: '', namespaced: true, kind: 'Lease', verbs }],
    },
  };
  const transport = scriptedTransport(({ path }) => jsonAnswer(documents[path]));
  assert.deepEqual(await discover({ transport, userAgent: 'test' }), [service, lease]);
});
