import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AnyKind } from '../../kinds/definition.ts';
import { gadgetDefinition, widget, widgetDefinition } from '../encode/example.ts';
import { createDiscovery } from './discovery.ts';
import { servedGroups } from './served-kind.ts';

const review = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'Review',
  plural: 'reviews',
  singular: 'review',
  namespaced: false,
  schema: widget,
};
const discovery = createDiscovery({
  definitions: [widgetDefinition, gadgetDefinition],
  virtualKinds: [review],
  serverAddress: '127.0.0.1:6443',
});

function get(path: string, headers: { accept?: string; ifNoneMatch?: string } = {}) {
  return discovery.handle({ path, query: new URLSearchParams(), ...headers });
}

const body = (path: string, accept = '') => JSON.parse(String(get(path, { accept })?.body));

const widgetVersion = { groupVersion: 'example.k8s.io/v1', version: 'v1' };
const reviewVersion = { groupVersion: 'authorization.k8s.io/v1', version: 'v1' };
const allVerbs = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

const documents: Readonly<Record<string, object>> = {
  '/api': {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1:6443' }],
  },
  '/apis/': {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: [
      { name: 'authorization.k8s.io', versions: [reviewVersion], preferredVersion: reviewVersion },
      { name: 'example.k8s.io', versions: [widgetVersion], preferredVersion: widgetVersion },
    ],
  },
  '/apis/example.k8s.io': {
    kind: 'APIGroup',
    apiVersion: 'v1',
    name: 'example.k8s.io',
    versions: [widgetVersion],
    preferredVersion: widgetVersion,
  },
  '/api/v1': {
    kind: 'APIResourceList',
    groupVersion: 'v1',
    resources: [
      {
        name: 'gadgets',
        singularName: 'gadget',
        namespaced: false,
        kind: 'Gadget',
        verbs: ['create', 'get', 'list'],
        storageVersionHash: 'VdWwa6caiio=',
      },
    ],
  },
  '/apis/example.k8s.io/v1': {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: 'example.k8s.io/v1',
    resources: [
      {
        name: 'widgets',
        singularName: 'widget',
        namespaced: true,
        kind: 'Widget',
        verbs: allVerbs,
        shortNames: ['wd'],
        categories: ['all'],
        storageVersionHash: 'ECS3p996vxA=',
      },
      {
        name: 'widgets/scale',
        singularName: '',
        namespaced: true,
        group: 'autoscaling',
        version: 'v1',
        kind: 'Scale',
        verbs: ['get'],
      },
      {
        name: 'widgets/status',
        singularName: '',
        namespaced: true,
        kind: 'Widget',
        verbs: ['get', 'patch', 'update'],
      },
    ],
  },
  '/apis/authorization.k8s.io/v1': {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: 'authorization.k8s.io/v1',
    resources: [
      {
        name: 'reviews',
        singularName: 'review',
        namespaced: false,
        kind: 'Review',
        verbs: ['create'],
      },
    ],
  },
};

const aggregate = (version: string, type = 'json'): string =>
  `application/${type};g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
const unacceptable = 'only the following media types are accepted';

const negotiated: readonly (readonly [string, string, string])[] = [
  ['the newer of two versions', `${aggregate('v2')},${aggregate('v2beta1')}`, 'v2'],
  ['past a version that is gone', `${aggregate('v2beta1')},${aggregate('v2')},*/*`, 'v2'],
  [
    'plain where only old versions are offered',
    `${aggregate('v2beta1')},application/json`,
    'plain',
  ],
  ['plain where it comes first', `application/json,${aggregate('v2')}`, 'plain'],
  ['by quality', `application/json;q=0.5,${aggregate('v2')}`, 'v2'],
  ['YAML', aggregate('v2', 'yaml'), 'v2'],
];

describe('createDiscovery()', () => {
  for (const [name, accept, wanted] of negotiated) {
    it(`chooses ${name}`, () => {
      const type = String(get('/apis', { accept })?.headers['content-type']);
      assert.equal(type.includes(';v=v2;') ? 'v2' : 'plain', wanted);
    });
  }

  it('refuses forms that a document does not have', () => {
    const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    for (const accept of [aggregate('v2beta1'), table])
      assert.throws(() => get('/apis', { accept }), new RegExp(unacceptable));
  });

  for (const [path, document] of Object.entries(documents)) {
    it(`answers ${path}`, () => assert.deepEqual(body(path), document));
  }

  for (const path of ['/', '/apis/nope.example.com', '/api/v2', '/api/v1/gadgets']) {
    it(`leaves ${path} to others`, () => assert.equal(get(path), undefined));
  }

  for (const version of ['v2']) {
    const accept = `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;

    it(`aggregates in ${version}`, () => {
      const answer = get('/apis', { accept: `${accept},application/json` });
      assert.equal(answer?.headers['content-type'], accept);
      const { items, ...rest } = JSON.parse(String(answer?.body));
      const apiVersion = `apidiscovery.k8s.io/${version}`;
      assert.deepEqual(rest, { kind: 'APIGroupDiscoveryList', apiVersion, metadata: {} });
      assert.deepEqual(items[1], {
        metadata: { name: 'example.k8s.io' },
        versions: [
          {
            version: 'v1',
            resources: [
              {
                resource: 'widgets',
                responseKind: { group: 'example.k8s.io', version: 'v1', kind: 'Widget' },
                scope: 'Namespaced',
                singularResource: 'widget',
                verbs: allVerbs,
                shortNames: ['wd'],
                categories: ['all'],
                subresources: [
                  {
                    subresource: 'scale',
                    responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
                    verbs: ['get'],
                  },
                  {
                    subresource: 'status',
                    responseKind: { group: 'example.k8s.io', version: 'v1', kind: 'Widget' },
                    verbs: ['get', 'patch', 'update'],
                  },
                ],
              },
            ],
            freshness: 'Current',
          },
        ],
      });
    });

    it(`answers 304 to who has the ${version} document`, () => {
      const etag = get('/api', { accept })?.headers.etag;
      assert.equal(get('/api', { accept, ifNoneMatch: String(etag) })?.status, 304);
    });
  }

  it('gives plain documents below the roots even to who aggregates', () =>
    assert.equal(
      body('/api/v1', 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,*/*')
        .kind,
      'APIResourceList',
    ));
});

describe('servedGroups()', () => {
  it('orders groups and versions as clients prefer them', () => {
    const of = (group: string, version = 'v1'): AnyKind => ({
      ...widgetDefinition,
      group,
      version,
    });
    const groups = servedGroups(
      [
        of('z.example.com'),
        of('discovery.k8s.io', 'v1beta1'),
        of('discovery.k8s.io', 'v1alpha1'),
        of('discovery.k8s.io', 'v2beta1'),
        of('discovery.k8s.io', 'v1'),
        of('apps'),
        of('events.k8s.io'),
        of('rbac.authorization.k8s.io'),
        of('networking.k8s.io'),
        of(''),
      ],
      [],
    );
    assert.deepEqual(
      groups.map(({ group }) => group),
      [
        '',
        'apps',
        'events.k8s.io',
        'networking.k8s.io',
        'rbac.authorization.k8s.io',
        'discovery.k8s.io',
        'z.example.com',
      ],
    );
    assert.deepEqual(
      groups[5]?.versions.map(({ version }) => version),
      ['v1', 'v2beta1', 'v1beta1', 'v1alpha1'],
    );
  });
});
