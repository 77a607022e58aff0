// Queries and headers, some of them wrong.
import type { Random } from '../parts/harness/random.ts';

const queries: readonly [string, ...string[]] = [
  'dryRun=All',
  'dryRun=x',
  'dryRun=',
  'fieldValidation=Strict',
  'fieldValidation=Ignore',
  'fieldValidation=x',
  'fieldManager=m',
  `fieldManager=${'m'.repeat(200)}`,
  'fieldManager=%00',
  'force=true',
  'force=x',
  'pretty=true',
  'pretty=%zz',
  'limit=1',
  'limit=-1',
  'limit=99999999999999999999',
  'limit=x',
  'continue=x',
  'continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0',
  'continue=bnVsbA',
  'continue=eyJ2IjoxfQ',
  'continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiLi4vLi4ifQ',
  'resourceVersion=0',
  'resourceVersion=-1',
  'resourceVersion=99999999999999999999999',
  'resourceVersion=x',
  'resourceVersion=1e3',
  'resourceVersion=1&resourceVersionMatch=Exact',
  'resourceVersionMatch=NotOlderThan',
  'resourceVersionMatch=x',
  'watch=true',
  'watch=1&resourceVersion=1',
  'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
  'watch=true&timeoutSeconds=-1',
  'sendInitialEvents=x',
  'allowWatchBookmarks=x',
  'timeoutSeconds=x',
  'timeoutSeconds=99999999999999999999',
  'timeout=x',
  'timeout=-1s',
  'timeout=9999999h',
  'labelSelector=a',
  'labelSelector=%21',
  'labelSelector=a%20in%20(',
  'labelSelector=a%20in%20(b,,c),!d,e!=f,g%3E9999999999999999999',
  `labelSelector=${'a%20in%20(b),'.repeat(200)}`,
  'labelSelector=((((((((',
  'labelSelector=%00%ff',
  'fieldSelector=metadata.name=a',
  'fieldSelector=metadata.name',
  'fieldSelector=x=y,z%5C',
  'fieldSelector=status.phase!=Running,spec.nodeName=',
  'fieldSelector=__proto__=x',
  'fieldSelector=constructor=x',
  'gracePeriodSeconds=-1',
  'gracePeriodSeconds=x',
  'gracePeriodSeconds=99999999999999999999',
  'propagationPolicy=x',
  'orphanDependents=x',
  'includeObject=None',
  'includeObject=x',
  'as=x',
  '%',
  '&&&===',
  '__proto__=x',
  'path=/x',
];

export function drawQuery(random: Random, method: string): string {
  const count = method === 'GET' ? random.below(4) : Math.max(0, random.below(6) - 3);
  const parts = Array.from({ length: count }, () => random.pick(queries));
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}

const encodedJson = (value: unknown): string =>
  Buffer.from(JSON.stringify(value)).toString('base64url');
const jwt = (head: unknown, claims: unknown, end: string): string =>
  `Bearer ${encodedJson(head)}.${encodedJson(claims)}.${end}`;
const issuer = 'https://kubernetes.default.svc.cluster.local';
const claims = { iss: issuer, sub: 'system:serviceaccount:fuzz:a', aud: [issuer], exp: 9e12 };

const authorizations: readonly [string, ...string[]] = [
  '',
  'Bearer',
  'Bearer ',
  'Bearer x',
  'Bearer a.b.c',
  'Bearer ...',
  'Bearer \u00ff\u00fe',
  'Basic eDp5',
  `Bearer ${'x'.repeat(9000)}`,
  jwt({ alg: 'none' }, claims, ''),
  jwt({ alg: 'RS256', kid: 'x' }, claims, 'AAAA'),
  jwt({ alg: 'ES256', kid: {} }, claims, 'AAAA'),
  jwt({ alg: 'HS256' }, { ...claims, exp: 'x', nbf: {}, 'kubernetes.io': null }, 'AAAA'),
  jwt(null, null, 'AAAA'),
  jwt([], 'x', '*'),
  jwt(1, [claims], 'AAAA'),
  'Bearer bnVsbA.bnVsbA.bnVsbA',
];

const types: readonly [string, ...string[]] = [
  '',
  'application/json; charset=utf-8',
  'application/json;',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'application/apply-patch+cbor',
  'application/cbor',
  'text/plain',
  ';;;',
  '/',
  'constructor',
  '__proto__',
];

const accepts: readonly [string, ...string[]] = [
  '',
  '*/*',
  'application/*',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'application/json;as=x;v=v1;g=meta.k8s.io,application/json',
  'application/vnd.kubernetes.protobuf',
  'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/vnd.kubernetes.protobuf;stream=watch',
  'application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io',
  'application/json;stream=watch;q=x',
  'application/yaml',
  'text/html',
  ',,,;;;===',
  'a'.repeat(5000),
];

const others: readonly [Readonly<Record<string, string>>, ...Readonly<Record<string, string>>[]] = [
  { 'impersonate-user': '' },
  { 'impersonate-user': 'u' },
  { 'impersonate-user': 'system:serviceaccount:fuzz:a', 'impersonate-group': '' },
  { 'impersonate-group': 'g' },
  { 'impersonate-uid': 'x' },
  { 'impersonate-user': 'u', 'impersonate-extra-%zz': 'x' },
  { 'impersonate-user': 'u', 'impersonate-extra-__proto__': 'x' },
  { 'if-none-match': '"x' },
  { 'accept-encoding': 'gzip;q=x' },
  { 'user-agent': '' },
  { 'user-agent': '\u00ff'.repeat(300) },
  { 'content-encoding': 'gzip' },
  { upgrade: 'websocket' },
];

export function drawHeaders(random: Random): Readonly<Record<string, string>> {
  return {
    ...(random.below(4) === 0 ? { accept: random.pick(accepts) } : {}),
    ...(random.below(12) === 0 ? { authorization: random.pick(authorizations) } : {}),
    ...(random.below(20) === 0 ? { 'content-type': random.pick(types) } : {}),
    ...(random.below(16) === 0 ? random.pick(others) : {}),
  };
}
