import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needsCatchUp } from './catch-up.ts';
import { parseRequest } from './request-info.ts';

for (const [method, url, sees] of [
  ['GET', '/api/v1/services', true],
  ['GET', '/api/v1/services?resourceVersion=', true],
  ['GET', '/api/v1/services?resourceVersion=0', false],
  ['GET', '/api/v1/services?resourceVersion=7&resourceVersionMatch=Exact', false],
  ['GET', '/api/v1/services?watch=true', true],
  ['GET', '/api/v1/services?watch=true&resourceVersion=7', false],
  ['GET', '/api/v1/namespaces/default/services/web', true],
  ['PUT', '/api/v1/namespaces/default/services/web?resourceVersion=7', true],
  ['POST', '/api/v1/namespaces/default/services', true],
  ['DELETE', '/api/v1/namespaces/default/services?resourceVersion=0', true],
  ['GET', '/readyz', false],
  ['GET', '/apis', false],
] as const) {
  test(`${method} ${url} ${sees ? 'sees everything' : 'takes what is in memory'}`, () => {
    const { pathname, searchParams: query } = new URL(url, 'https://server');
    assert.equal(needsCatchUp({ query }, parseRequest(method, pathname, query)), sees);
  });
}
