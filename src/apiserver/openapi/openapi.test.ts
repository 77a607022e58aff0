import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { allKinds } from '../../kinds/all.ts';
import { objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { gadgetDefinition, widgetDefinition } from '../encode/example.ts';
import { createOpenApi, type OpenApiRequest } from './openapi.ts';

const scale = s.struct('Scale', objectFields);
const openApi = createOpenApi({
  definitions: [widgetDefinition, gadgetDefinition],
  virtualKinds: [],
  spokenKinds: [{ group: 'autoscaling', version: 'v1', kind: 'Scale', schema: scale }],
  version: 'v1.36.4',
});

async function get(url: string, headers: Partial<OpenApiRequest> = {}) {
  const [path = '', query] = url.split('?');
  return await openApi.handle({ path, query: new URLSearchParams(query), ...headers });
}

const json = async (url: string) => JSON.parse(String((await get(url))?.body));
const widgets = '/openapi/v3/apis/example.k8s.io/v1';
const prefix = '#/components/schemas/';
const widgetKind = { group: 'example.k8s.io', version: 'v1', kind: 'Widget' };

describe('createOpenApi() v3', () => {
  it('lists a document for each group and version, under its hash', async () => {
    const { paths } = await json('/openapi/v3');
    assert.deepEqual(Object.keys(paths), [
      'api',
      'api/v1',
      'apis',
      'apis/example.k8s.io',
      'apis/example.k8s.io/v1',
      'version',
    ]);
    const url = paths['apis/example.k8s.io/v1'].serverRelativeURL;
    assert.match(url, /^\/openapi\/v3\/apis\/example\.k8s\.io\/v1\?hash=[0-9A-F]{128}$/);
    assert.equal((await get(url))?.status, 200);
  });

  it('leads from an outdated hash to the present one', async () => {
    const answer = await get(`${widgets}?hash=00`);
    assert.equal(answer?.status, 301);
    assert.equal((await get(String(answer?.headers.location)))?.status, 200);
  });
});

describe('createOpenApi() v3 documents', () => {
  it('describes a kind with its fields', async () => {
    const { components } = await json(widgets);
    const { description, properties, ...rest } = components.schemas['io.k8s.api.example.v1.Widget'];
    assert.equal(description, 'A thing for tests.');
    assert.deepEqual(Object.keys(properties), ['kind', 'apiVersion', 'metadata', 'spec']);
    assert.deepEqual(properties.spec, {
      allOf: [{ $ref: `${prefix}io.k8s.api.example.v1.WidgetSpec` }],
      description: 'What is wanted.',
    });
    assert.deepEqual(rest, {
      type: 'object',
      'x-kubernetes-group-version-kind': [widgetKind],
    });
  });

  it('describes lists, maps and special scalars', async () => {
    const { components } = await json(widgets);
    const ref = (name: string) => [{ $ref: `${prefix}${name}` }];
    // The core group uses the same port type, so it belongs there.
    assert.deepEqual(components.schemas['io.k8s.api.example.v1.WidgetSpec'].properties, {
      ports: {
        type: 'array',
        items: { $ref: `${prefix}io.k8s.api.core.v1.WidgetPort` },
        description: 'The ports.',
        'x-kubernetes-patch-strategy': 'merge',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['port', 'protocol'],
        'x-kubernetes-patch-merge-key': 'port',
      },
      selector: {
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'Which pods.',
        'x-kubernetes-map-type': 'atomic',
      },
      size: {
        allOf: ref('io.k8s.apimachinery.pkg.api.resource.Quantity'),
        description: 'How large.',
      },
      since: {
        allOf: ref('io.k8s.apimachinery.pkg.apis.meta.v1.Time'),
        description: 'From when on.',
      },
    });
    const port = components.schemas['io.k8s.api.core.v1.WidgetPort'];
    assert.deepEqual(port.required, ['port']);
    assert.deepEqual(port.properties.protocol, {
      type: 'string',
      description: 'Transport protocol.',
      default: 'TCP',
      enum: ['TCP', 'UDP'],
    });
  });

  it('marks operations with their action and kind, and knows the parameters of writes', async () => {
    const { paths } = await json(widgets);
    const one = paths['/apis/example.k8s.io/v1/namespaces/{namespace}/widgets/{name}'];
    const names = one.patch.parameters.map((p: { name: string }) => p.name);
    assert.deepEqual(names, ['dryRun', 'fieldManager', 'fieldValidation', 'force']);
    assert.equal(one.patch['x-kubernetes-action'], 'patch');
    assert.deepEqual(one.patch['x-kubernetes-group-version-kind'], widgetKind);
    assert.equal(one.get.operationId, 'readExampleV1NamespacedWidget');
    const scale = paths['/apis/example.k8s.io/v1/namespaces/{namespace}/widgets/{name}/scale'];
    assert.equal(scale.get['x-kubernetes-group-version-kind'].kind, 'Scale');
    assert.deepEqual(scale.get.responses[200].content['application/json'].schema, {
      $ref: `${prefix}io.k8s.api.autoscaling.v1.Scale`,
    });
    assert.equal(paths['/apis/example.k8s.io/v1/widgets'].get['x-kubernetes-action'], 'list');
  });

  it('has no reference that leads nowhere', async () => {
    for (const name of ['api/v1', 'apis/example.k8s.io/v1']) {
      const text = String((await get(`/openapi/v3/${name}`))?.body);
      const known = Object.keys(JSON.parse(text).components.schemas);
      for (const [, ref] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
        assert.ok(known.includes(String(ref)), `${name} misses ${ref}`);
      }
    }
  });
});

describe('createOpenApi() v3 for people', () => {
  it('names the form in which managers of fields are written', async () => {
    const { components } = await json(widgets);
    const entry = components.schemas['io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry'];
    const fields = 'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1';
    assert.deepEqual(entry.properties.fieldsV1.allOf, [{ $ref: `${prefix}${fields}` }]);
    assert.equal(components.schemas[fields].type, 'object');
  });

  it('tells types apart that have the same fields', async () => {
    const fields = { name: s.string('Name of the object.') };
    const [left, right] = [s.struct('LeftRef', fields), s.struct('RightRef', fields)];
    const schema = s.struct('Pair', { ...objectFields, left, right });
    const pair = { ...widgetDefinition, kind: 'Pair', plural: 'pairs', singular: 'pair', schema };
    const ofPairs = createOpenApi({ definitions: [pair], virtualKinds: [], version: 'v1' });
    const answer = await ofPairs.handle({ path: widgets, query: new URLSearchParams() });
    const { schemas } = JSON.parse(String(answer?.body)).components;
    const { properties } = schemas['io.k8s.api.example.v1.Pair'];
    assert.deepEqual(properties.left, { $ref: `${prefix}io.k8s.api.example.v1.LeftRef` });
    assert.deepEqual(properties.right, { $ref: `${prefix}io.k8s.api.example.v1.RightRef` });
  });

  it('says of every kind what it is, for `kubectl explain`', () => {
    const silent = allKinds.filter(({ schema }) => schema.description === undefined);
    assert.deepEqual(
      silent.map(({ kind }) => kind),
      [],
    );
  });
});

describe('createOpenApi() v2', () => {
  it('holds everything in one document', async () => {
    const { swagger, info, definitions, paths } = await json('/openapi/v2');
    assert.deepEqual([swagger, info.title], ['2.0', 'Kubernetes']);
    assert.deepEqual(definitions['io.k8s.api.example.v1.Widget'].properties.spec, {
      $ref: '#/definitions/io.k8s.api.example.v1.WidgetSpec',
      description: 'What is wanted.',
    });
    const target = definitions['io.k8s.apimachinery.pkg.util.intstr.IntOrString'];
    assert.deepEqual([target.type, target.format], ['string', 'int-or-string']);
    const { post } = paths['/apis/example.k8s.io/v1/namespaces/{namespace}/widgets'];
    assert.deepEqual(post.parameters[0], {
      name: 'body',
      in: 'body',
      required: true,
      schema: { $ref: '#/definitions/io.k8s.api.example.v1.Widget' },
    });
    assert.equal(post.parameters[1].type, 'string');
  });
});

describe('createOpenApi() answers', () => {
  const protobuf = (version: string) =>
    `application/com.github.proto-openapi.spec.${version}v1.0+protobuf`;
  const cases: readonly (readonly [string, Partial<OpenApiRequest>, number | undefined])[] = [
    ['/openapi/v2', { accept: 'application/json' }, 200],
    ['/openapi/v2', { accept: protobuf('v2@') }, 200],
    ['/openapi/v2', { accept: protobuf('v2.') }, 200],
    ['/openapi/v2', { accept: 'text/html' }, 406],
    ['/openapi/v3', { accept: 'application/json, */*' }, 200],
    [widgets, { accept: protobuf('v3.') }, 406],
    ['/openapi/v3/apis/nope.example.com/v1', {}, 404],
    ['/openapi/v4', {}, undefined],
  ];
  for (const [url, headers, status] of cases) {
    it(`${status} to ${url} for ${JSON.stringify(headers)}`, async () =>
      assert.equal((await get(url, headers))?.status, status));
  }

  it('answers 304 to who has the document, and compresses for who can unpack', async () => {
    const plain = await get(widgets);
    const ifNoneMatch = String(plain?.headers.etag);
    assert.equal((await get(widgets, { ifNoneMatch }))?.status, 304);
    const packed = await get(widgets, { acceptEncoding: 'gzip' });
    assert.equal(packed?.headers['content-encoding'], 'gzip');
    assert.deepEqual(gunzipSync(packed?.body as Buffer), plain?.body);
  });
});
