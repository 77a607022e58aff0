import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterRoleDefinition } from '../../kinds/cluster-role/definition.ts';
import type { AnyKind } from '../../kinds/definition.ts';
import { eventDefinition } from '../../kinds/event/definition.ts';
import { leaseDefinition } from '../../kinds/lease/definition.ts';
import { namespaceDefinition } from '../../kinds/namespace/definition.ts';
import { nodeDefinition } from '../../kinds/node/definition.ts';
import { serviceDefinition } from '../../kinds/service/definition.ts';
import { exampleService } from '../../kinds/service/example.ts';
import { isApiError } from '../../meta/api-error.ts';
import { type ListOptions, parseInteger, parseListOptions, parseVersion } from './list-options.ts';
import { parseRequest } from './request-info.ts';

function parse(query: string, watch = false, kind: AnyKind = serviceDefinition): ListOptions {
  const search = new URLSearchParams(query);
  const path =
    kind.group === '' ? `/api/v1/${kind.plural}` : `/apis/${kind.group}/v1/${kind.plural}`;
  const info = parseRequest('GET', path, search);
  assert.ok(info.kind === 'resource');
  return parseListOptions(info, search, { definition: kind, watch });
}

function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (!isApiError(error)) throw error;
    const { code, message = '' } = error.status;
    return `${code} ${message}`;
  }
  return 'none';
}

test('parseListOptions() of nothing selects everything now', () => {
  const { selects, ...options } = parse('');
  assert.deepEqual(options, {
    selectsAll: true,
    limit: 0,
    continueToken: '',
    resourceVersionMatch: '',
    allowBookmarks: false,
  });
  assert.equal(selects(exampleService()), true);
});

test('parseListOptions() reads every option', () => {
  const { selects: _selects, ...options } = parse(
    'limit=5&continue=abc&resourceVersion=7&timeoutSeconds=9&allowWatchBookmarks=true',
  );
  assert.deepEqual(options, {
    selectsAll: true,
    limit: 5,
    continueToken: 'abc',
    resourceVersion: 7,
    resourceVersionMatch: '',
    timeoutSeconds: 9,
    allowBookmarks: true,
  });
});

const flags: Readonly<Record<string, boolean | undefined>> = {
  '': undefined,
  'sendInitialEvents=true': true,
  'sendInitialEvents=1': true,
  sendInitialEvents: true,
  'sendInitialEvents=no': true,
  'sendInitialEvents=false': false,
  'sendInitialEvents=False': false,
  'sendInitialEvents=0': false,
};

for (const [query, wanted] of Object.entries(flags)) {
  test(`parseListOptions() reads "${query}" as ${wanted}`, () => {
    const match = query === '' ? '' : '&resourceVersionMatch=NotOlderThan';
    assert.equal(parse(query + match, true).sendInitialEvents, wanted);
    const bookmarks = query.replace('sendInitialEvents', 'allowWatchBookmarks');
    assert.equal(parse(bookmarks, true).allowBookmarks, wanted ?? false);
  });
}

const service = exampleService({
  metadata: { name: 'web', namespace: 'a', labels: { app: 'web', tier: 'front' } },
});

const selections: readonly [query: string, selected: boolean][] = [
  ['labelSelector=app%3Dweb', true],
  ['labelSelector=app%3Dother', false],
  ['labelSelector=app,tier+in+(front,back)', true],
  ['labelSelector=!app', false],
  ['labelSelector=tier+notin+(back)', true],
  ['fieldSelector=metadata.name%3Dweb', true],
  ['fieldSelector=metadata.name!%3Dweb', false],
  ['fieldSelector=metadata.namespace%3Da,metadata.name%3D%3Dweb', true],
  ['fieldSelector=spec.type%3DClusterIP', true],
  ['fieldSelector=spec.type%3DNodePort', false],
  ['labelSelector=app%3Dweb&fieldSelector=metadata.name%3Dother', false],
];

for (const [query, selected] of selections) {
  test(`parseListOptions() with ${query} ${selected ? 'selects' : 'leaves out'} the service`, () => {
    const options = parse(query);
    assert.equal(options.selects(service), selected);
    assert.equal(options.selectsAll, false);
  });
}

test('parseListOptions() lets a label selector of nothing select all', () => {
  assert.equal(parse('labelSelector=&fieldSelector=').selectsAll, true);
});

const rule = 'ListOptions.meta.k8s.io "" is invalid: ';
const field = 'resourceVersionMatch: ';
const needsVersion = `${field}Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided`;
const withContinue = `${field}Forbidden: resourceVersionMatch is forbidden when continue is provided`;
const needsInitial = `${field}Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided`;
const notForLists = 'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list';
const needsMatch = `${field}Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan`;
const exactInWatch = `${field}Unsupported value: "Exact": supported values: "NotOlderThan"`;
const unsupported = `${field}Unsupported value: "Foo": supported values: "Exact", "NotOlderThan", ""`;

const lists: Readonly<Record<string, string>> = {
  'resourceVersionMatch=Exact&resourceVersion=5': 'none',
  'resourceVersionMatch=NotOlderThan&resourceVersion=0': 'none',
  'resourceVersionMatch=': 'none',
  'resourceVersionMatch=Exact': `422 ${rule}${needsVersion}`,
  'resourceVersionMatch=Foo&resourceVersion=1': `422 ${rule}${unsupported}`,
  'resourceVersionMatch=Foo': `422 ${rule}[${needsVersion}, ${unsupported}]`,
  'resourceVersionMatch=Exact&resourceVersion=0': `422 ${rule}${field}Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"`,
  'resourceVersionMatch=Exact&resourceVersion=5&continue=abc': `422 ${rule}${withContinue}`,
  'resourceVersionMatch=NotOlderThan&continue=abc': `422 ${rule}[${needsVersion}, ${withContinue}]`,
  'sendInitialEvents=true': `422 ${rule}${notForLists}`,
  'sendInitialEvents=true&resourceVersionMatch=NotOlderThan': `422 ${rule}[${needsVersion}, ${notForLists}]`,
};

for (const [query, wanted] of Object.entries(lists)) {
  test(`parseListOptions() of a list with ${query}: ${wanted.slice(0, 60)}`, () => {
    assert.equal(
      refusal(() => parse(query)),
      wanted,
    );
  });
}

const watches: Readonly<Record<string, string>> = {
  'sendInitialEvents=true&resourceVersionMatch=NotOlderThan': 'none',
  'sendInitialEvents=false&resourceVersionMatch=NotOlderThan': 'none',
  'resourceVersion=5&continue=abc': 'none',
  'resourceVersionMatch=NotOlderThan&resourceVersion=1': `422 ${rule}${needsInitial}`,
  'resourceVersionMatch=Exact&resourceVersion=1': `422 ${rule}[${needsInitial}, ${exactInWatch}]`,
  'sendInitialEvents=true': `422 ${rule}${needsMatch}`,
  'sendInitialEvents=true&resourceVersionMatch=Exact': `422 ${rule}[${needsMatch}, ${exactInWatch}]`,
  'continue=abc': `422 ${rule}${withContinue}`,
  'resourceVersion=0&continue=abc': `422 ${rule}${withContinue}`,
  'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=abc': `422 ${rule}${withContinue}`,
};

for (const [query, wanted] of Object.entries(watches)) {
  test(`parseListOptions() of a watch with ${query}: ${wanted.slice(0, 60)}`, () => {
    assert.equal(
      refusal(() => parse(query, true)),
      wanted,
    );
  });
}

const version = 'invalid resource version: resourceVersion: Invalid value: ';
const wrong: Readonly<Record<string, string>> = {
  'limit=abc': '400 strconv.ParseInt: parsing "abc": invalid syntax',
  'limit=': '400 strconv.ParseInt: parsing "": invalid syntax',
  'limit=1.5': '400 strconv.ParseInt: parsing "1.5": invalid syntax',
  'timeoutSeconds=99999999999999999999':
    '400 strconv.ParseInt: parsing "99999999999999999999": value out of range',
  'resourceVersion=abc': `400 ${version}"abc": strconv.ParseUint: parsing "abc": invalid syntax`,
  'resourceVersion=-1': `400 ${version}"-1": strconv.ParseUint: parsing "-1": invalid syntax`,
  'fieldSelector=nonsense': "400 invalid selector: 'nonsense'; can't understand 'nonsense'",
};

for (const [query, wanted] of Object.entries(wrong)) {
  test(`parseListOptions() refuses ${query}`, () => {
    assert.equal(
      refusal(() => parse(query)),
      wanted,
    );
  });
}

test('parseListOptions() refuses a label selector that is none', () => {
  assert.match(
    refusal(() => parse('labelSelector=a%3D%3Db%3D')),
    /^400 /,
  );
});

test('parseListOptions() names an unknown field in the words of the kind', () => {
  assert.equal(
    refusal(() => parse('fieldSelector=spec.nope%3D1', false, leaseDefinition)),
    '400 "spec.nope" is not a known field selector: only "metadata.name", "metadata.namespace"',
  );
  assert.equal(
    refusal(() => parse('fieldSelector=spec.nope%3D1', false, eventDefinition)),
    '400 field label not supported: spec.nope',
  );
  assert.equal(
    refusal(() => parse('fieldSelector=constructor%3D1', false, eventDefinition)),
    '400 field label not supported: constructor',
  );
});

test('parseInteger() takes what Go takes', () => {
  assert.deepEqual(['5', '+5', '-5', '007', '0'].map(parseInteger), [5, 5, -5, 7, 0]);
});

test('parseVersion() refuses the version of a get in words of its own', () => {
  assert.equal(parseVersion('12', false), 12);
  assert.equal(
    refusal(() => parseVersion('abc', false)),
    '400 resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
  );
  assert.match(
    refusal(() => parseVersion('99999999999999999999', true)),
    /value out of range$/,
  );
});

const noField = 'field label not supported: metadata.namespace';
const namespaceFields: readonly [kind: AnyKind, refused: string][] = [
  [nodeDefinition, `400 ${noField}`],
  [namespaceDefinition, `400 ${noField}`],
  [clusterRoleDefinition, 'none'],
  [leaseDefinition, 'none'],
  [serviceDefinition, 'none'],
];

for (const [kind, wanted] of namespaceFields) {
  test(`parseListOptions() of ${kind.plural} selected by namespace: ${wanted}`, () => {
    assert.equal(
      refusal(() => parse('fieldSelector=metadata.namespace%3Da', false, kind)),
      wanted,
    );
  });
}

test('values in refusals are quoted as Go does', () => {
  const wrong = 'a\u0001\u200b';
  const shown = '"a\\x01\\u200b"';
  const version = `resourceVersion: Invalid value: ${shown}: strconv.ParseUint: parsing ${shown}: invalid syntax`;
  assert.equal(
    refusal(() => parseInteger(wrong)),
    `400 strconv.ParseInt: parsing ${shown}: invalid syntax`,
  );
  assert.equal(
    refusal(() => parseVersion(wrong, false)),
    `400 ${version}`,
  );
});
