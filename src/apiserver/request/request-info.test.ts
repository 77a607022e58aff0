import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isWatch, parseRequest, type RequestInfo, type ResourceRequest } from './request-info.ts';

function parse(line: string): RequestInfo {
  const [method = '', url = ''] = line.split(' ');
  const [path = '', query = ''] = url.split('?');
  return parseRequest(method, path, new URLSearchParams(query));
}

function resource(parts: Partial<ResourceRequest>): ResourceRequest {
  return {
    kind: 'resource',
    verb: 'get',
    group: '',
    version: 'v1',
    namespace: '',
    resource: '',
    subresource: '',
    name: '',
    pathName: parts.name ?? '',
    inNamespace: (parts.namespace ?? '') !== '' && parts.resource !== 'namespaces',
    rest: '',
    ...parts,
  };
}

const web = { namespace: 'a', resource: 'services', name: 'web' };
const services = { namespace: 'a', resource: 'services' };
const slices = {
  group: 'discovery.k8s.io',
  version: 'v1',
  namespace: 'a',
  resource: 'endpointslices',
};

const resources: Readonly<Record<string, Partial<ResourceRequest>>> = {
  'GET /api/v1/services': { verb: 'list', resource: 'services' },
  'GET /api/v1/namespaces/a/services': { ...services, verb: 'list' },
  'GET /api/v1/namespaces/a/services/': { ...services, verb: 'list' },
  'GET /api/v1/namespaces/a/services/web': web,
  'HEAD /api/v1/namespaces/a/services/web': web,
  'HEAD /api/v1/namespaces/a/services': { ...services, verb: 'list' },
  'POST /api/v1/namespaces/a/services': { ...services, verb: 'create' },
  'PUT /api/v1/namespaces/a/services/web': { ...web, verb: 'update' },
  'PATCH /api/v1/namespaces/a/services/web': { ...web, verb: 'patch' },
  'DELETE /api/v1/namespaces/a/services/web': { ...web, verb: 'delete' },
  'DELETE /api/v1/namespaces/a/services': { ...services, verb: 'deletecollection' },
  'OPTIONS /api/v1/namespaces/a/services/web': { ...web, verb: 'options' },
  'constructor /api/v1/namespaces/a/services/web': { ...web, verb: 'constructor' },
  'PUT /api/v1/namespaces/a/services/web/status': { ...web, verb: 'update', subresource: 'status' },
  'GET /api/v1/namespaces/a/services/web/proxy/x/y': { ...web, subresource: 'proxy', rest: 'x/y' },
  'GET /apis/discovery.k8s.io/v1/namespaces/a/endpointslices/b': { ...slices, name: 'b' },
  'GET /apis/discovery.k8s.io/v1/endpointslices': { ...slices, namespace: '', verb: 'list' },
  'GET /api/v1/nodes/n': { resource: 'nodes', name: 'n' },
  'GET /api/v1/namespaces': { resource: 'namespaces', verb: 'list' },
  'GET /api/v1/namespaces/a': { namespace: 'a', resource: 'namespaces', name: 'a' },
  'DELETE /api/v1/namespaces/a': {
    namespace: 'a',
    resource: 'namespaces',
    name: 'a',
    verb: 'delete',
  },
  'GET /api/v1/namespaces/a/status': {
    namespace: 'a',
    resource: 'namespaces',
    name: 'a',
    subresource: 'status',
  },
  'PUT /api/v1/namespaces/a/finalize': {
    namespace: 'a',
    resource: 'namespaces',
    name: 'a',
    subresource: 'finalize',
    verb: 'update',
  },
  // Only those two are subresources: everything else below a namespace is a resource in it.
  'GET /api/v1/namespaces/a/proxy': { namespace: 'a', resource: 'proxy', verb: 'list' },
};

for (const [line, wanted] of Object.entries(resources)) {
  test(`parseRequest() reads ${line}`, () => {
    assert.deepEqual(parse(line), resource(wanted));
  });
}

const watches: Readonly<Record<string, Partial<ResourceRequest>>> = {
  'GET /api/v1/namespaces/a/services?watch=true': { ...services, verb: 'watch' },
  'GET /api/v1/namespaces/a/services?watch=1': { ...services, verb: 'watch' },
  'GET /api/v1/namespaces/a/services?watch': { ...services, verb: 'watch' },
  'GET /api/v1/namespaces/a/services?watch=': { ...services, verb: 'watch' },
  'GET /api/v1/namespaces/a/services?watch=false': { ...services, verb: 'list' },
  'GET /api/v1/namespaces/a/services?watch=FALSE': { ...services, verb: 'list' },
  'GET /api/v1/namespaces/a/services?watch=0': { ...services, verb: 'list' },
  'GET /api/v1/namespaces/a/services/web?watch=true': web,
  'POST /api/v1/namespaces/a/services?watch=true': { ...services, verb: 'create' },
  'GET /api/v1/watch/services': { resource: 'services', verb: 'watch' },
  'GET /api/v1/watch/namespaces/a/services': { ...services, verb: 'watch' },
  'GET /api/v1/watch/namespaces/a/services/web': { ...web, verb: 'watch' },
  'GET /apis/discovery.k8s.io/v1/watch/namespaces/a/endpointslices': { ...slices, verb: 'watch' },
  'GET /api/v1/watch/namespaces/a': {
    namespace: 'a',
    resource: 'namespaces',
    name: 'a',
    verb: 'watch',
  },
  // The path says watch, whatever the method: nothing is written below it.
  'DELETE /api/v1/watch/namespaces/a/services/web': { ...web, verb: 'watch' },
  'POST /api/v1/watch/namespaces/a/services': { ...services, verb: 'watch' },
  // A resource of that name, since nothing follows.
  'GET /api/v1/watch': { resource: 'watch', verb: 'list' },
};

for (const [line, wanted] of Object.entries(watches)) {
  test(`parseRequest() recognizes watches: ${line}`, () => {
    assert.deepEqual(parse(line), resource(wanted));
  });
}

const selected: Readonly<Record<string, string>> = {
  'metadata.name=web': 'web',
  'metadata.name==web': 'web',
  'metadata.name=web,metadata.namespace=a': 'web',
  'spec.x=y,metadata.name=web': 'web',
  'metadata.name!=web': '',
  'metadata.name=': '',
  'metadata.name=a/b': '',
  'metadata.name=..': '',
  'metadata.namespace=a': '',
  'what?': '',
};

for (const [selector, name] of Object.entries(selected)) {
  test(`parseRequest() takes the name "${name}" from the field selector ${selector}`, () => {
    const query = `fieldSelector=${encodeURIComponent(selector)}`;
    const list = parse(`GET /api/v1/namespaces/a/services?${query}`);
    const fieldSelector = selector;
    assert.deepEqual(
      list,
      resource({ ...services, verb: 'list', name, pathName: '', fieldSelector }),
    );
    const watch = parse(`GET /api/v1/namespaces/a/services?watch=1&${query}`);
    assert.deepEqual(
      watch,
      resource({ ...services, verb: 'watch', name, pathName: '', fieldSelector }),
    );
    const removal = parse(`DELETE /api/v1/namespaces/a/services?${query}`);
    assert.deepEqual(removal, resource({ ...services, verb: 'deletecollection', fieldSelector }));
  });
}

const encoded: Readonly<Record<string, Partial<ResourceRequest>>> = {
  'GET /api/v1/namespaces/a/services/w%65b': web,
  'GET /apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode': {
    group: 'rbac.authorization.k8s.io',
    resource: 'clusterroles',
    name: 'system:node',
  },
  'GET /api/v1/nodes/%C3%A9': { resource: 'nodes', name: 'é' },
  // An encoded slash separates like a plain one.
  'GET /api/v1/namespaces/a%2Fservices/web': web,
  'GET /api/v1/nodes/..%2Fx': { resource: 'nodes', name: '..', subresource: 'x' },
  // What cannot be decoded stands for itself.
  'GET /api/v1/nodes/100%': { resource: 'nodes', name: '100%' },
};

for (const [line, wanted] of Object.entries(encoded)) {
  test(`parseRequest() decodes ${line}`, () => {
    assert.deepEqual(parse(line), resource(wanted));
  });
}

const paths = [
  '/',
  '/api',
  '/api/v1',
  '/apis',
  '/apis/apps',
  '/apis/apps/v1',
  '/healthz',
  '/openapi/v3',
];

for (const path of paths) {
  test(`parseRequest() leaves ${path} a path`, () => {
    assert.deepEqual(parse(`GET ${path}`), { kind: 'path', verb: 'get', path });
    assert.deepEqual(parse(`POST ${path}`), { kind: 'path', verb: 'post', path });
  });
}

test('isWatch() is false without the parameter', () => {
  assert.equal(isWatch(new URLSearchParams('limit=1')), false);
});
