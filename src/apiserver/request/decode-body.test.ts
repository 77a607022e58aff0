import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allKinds } from '../../kinds/all.ts';
import { configMapDefinition } from '../../kinds/config-map/definition.ts';
import { isApiError } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import { createPace } from '../limits/pace.ts';
import { decodeBody, mediaOf } from './decode-body.ts';
import type { FieldValidation } from './write-options.ts';

type Sent = {
  readonly contentType?: string;
  readonly fieldValidation?: FieldValidation;
  readonly warnings?: string[];
};

function decode(body: string, sent: Sent = {}): Promise<KubeObject & { readonly data?: unknown }> {
  return decodeBody({
    body: Buffer.from(body),
    contentType: sent.contentType ?? 'application/json',
    kind: configMapDefinition,
    known: allKinds,
    fieldValidation: sent.fieldValidation ?? 'Warn',
    warn: (text) => sent.warnings?.push(text),
    pace: createPace(),
  });
}

async function refusal(body: string, sent?: Sent): Promise<string> {
  try {
    await decode(body, sent);
  } catch (error) {
    if (!isApiError(error)) throw error;
    return `${error.status.code} ${error.message}`;
  }
  return 'none';
}

const named = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' } };

for (const [what, body] of Object.entries({
  'with kind and version': '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}}',
  'without them': '{"metadata":{"name":"a"}}',
  'with empty ones': '{"kind":"","apiVersion":"","metadata":{"name":"a"}}',
  'in another order': ' {"metadata":{"name":"a"},"apiVersion":"v1","kind":"ConfigMap"}\n',
})) {
  test(`decodeBody() takes JSON ${what}`, async () => {
    assert.deepEqual(await decode(body), named);
  });
}

test('decodeBody() takes YAML', async () => {
  const contentType = 'application/yaml';
  const body = 'kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: a\ndata:\n  k: "1"\n';
  assert.deepEqual(await decode(body, { contentType }), { ...named, data: { k: '1' } });
});

test('decodeBody() reads a part of a larger buffer', async () => {
  const large = Buffer.from('xxxx{"metadata":{"name":"a"}}yyyy');
  const object = await decodeBody({
    body: large.subarray(4, large.length - 4),
    contentType: '',
    kind: configMapDefinition,
    known: allKinds,
    fieldValidation: 'Warn',
    warn: () => {},
    pace: createPace(),
  });
  assert.deepEqual(object, named);
});

test('mediaOf() goes by the type without its parameters', () => {
  assert.equal(mediaOf(''), 'json');
  assert.equal(mediaOf('application/json; charset=utf-8'), 'json');
  assert.equal(mediaOf('Application/YAML'), 'yaml');
  assert.equal(mediaOf('application/vnd.kubernetes.protobuf'), 'protobuf');
  assert.throws(
    () => mediaOf('text/plain'),
    (error) => isApiError(error) && error.status.code === 415,
  );
});

const unknown = '{"metadata":{"name":"a","nope":1},"bogus":true,"data":{"k":"1","k":"2"}}';

test('decodeBody() warns of unknown and repeated fields in the order of the document', async () => {
  const warnings: string[] = [];
  assert.deepEqual(await decode(unknown, { warnings }), { ...named, data: { k: '2' } });
  assert.deepEqual(warnings, [
    'unknown field "metadata.nope"',
    'unknown field "bogus"',
    'duplicate field "data.k"',
  ]);
});

test('decodeBody() takes the version of a group that has no name with its slash', async () => {
  assert.deepEqual(
    await decode('{"apiVersion":"/v1","kind":"ConfigMap","metadata":{"name":"a"}}'),
    named,
  );
});

const twice = 'metadata:\n  name: a\ndata:\n  k: "1"\n  k: "2"\nbogus: 1\n';

test('decodeBody() warns of each key that YAML gives twice, and tells all in one when strict', async () => {
  const warnings: string[] = [];
  assert.deepEqual(await decode(twice, { contentType: 'application/yaml', warnings }), {
    ...named,
    data: { k: '2' },
  });
  assert.deepEqual(warnings, ['line 5: key "k" already set in map', 'unknown field "bogus"']);
  assert.equal(
    await refusal(twice, { contentType: 'application/yaml', fieldValidation: 'Strict' }),
    '400 ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: yaml: unmarshal errors:\n  line 5: key "k" already set in map, unknown field "bogus"',
  );
});

test('decodeBody() merges objects that are given twice, as Go reads both into one place', async () => {
  const body = '{"metadata":{"name":"a"},"data":{"k":"1","l":"2"},"data":{"k":"3"},"metadata":{}}';
  const warnings: string[] = [];
  assert.deepEqual(await decode(body, { warnings }), { ...named, data: { k: '3', l: '2' } });
  assert.deepEqual(warnings, ['duplicate field "data"', 'duplicate field "metadata"']);
});

test('decodeBody() refuses them when asked to be strict, and says nothing when asked not to', async () => {
  assert.equal(
    await refusal(unknown, { fieldValidation: 'Strict' }),
    '400 ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "metadata.nope", unknown field "bogus", duplicate field "data.k"',
  );
  const warnings: string[] = [];
  await decode(unknown, { fieldValidation: 'Ignore', warnings });
  assert.deepEqual(warnings, []);
});

const start = '400 the object provided is unrecognized (must be of type ConfigMap): ';
const parseError = "couldn't get version/kind; json parse error: ";
const handled = 'cannot be handled as a ConfigMap: ';
const typeMeta =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

const wrong: Readonly<Record<string, string>> = {
  '': `${start}${parseError}unexpected end of JSON input (<empty>)`,
  '{': `${start}${parseError}unexpected end of JSON input ({)`,
  'not json': `${start}${parseError}invalid character 'o' in literal null (expecting 'u') (6e6f74206a736f6e)`,
  '[]': `${start}${parseError}json: cannot unmarshal array into Go value of type ${typeMeta} (5b5d)`,
  '"text"': `${start}${parseError}json: cannot unmarshal string into Go value of type ${typeMeta} (227465787422)`,
  '{"kind":3}': `${start}${parseError}json: cannot unmarshal number into Go struct field .kind of type string ({"kind":3})`,
  '{"apiVersion":{}}': `${start}${parseError}json: cannot unmarshal object into Go struct field .apiVersion of type string ({"apiVersion":{}})`,
  '{"apiVersion":"a/b/c"}': `${start}unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c"})`,
  '{"kind":"Service","apiVersion":"v1"}': `400 Service in version "v1" ${handled}converting (v1.Service) to (core.ConfigMap): unknown conversion`,
  '{"kind":"Bogus","apiVersion":"v1"}': `400 Bogus in version "v1" ${handled}no kind "Bogus" is registered for version "v1" in scheme "pkg/api/legacyscheme/scheme.go:30"`,
  '{"kind":"ConfigMap","apiVersion":"v9"}': `400 ConfigMap in version "v9" ${handled}no kind "ConfigMap" is registered for version "v9" in scheme "pkg/api/legacyscheme/scheme.go:30"`,
};

for (const [body, wanted] of Object.entries(wrong)) {
  test(`decodeBody() refuses ${body === '' ? 'nothing' : body}`, async () => {
    assert.equal(await refusal(body), wanted);
  });
}

test('decodeBody() cuts what it shows of a long body', async () => {
  assert.match(await refusal(`{${' '.repeat(100)}`), /\(\{ {29} \.\.\.\)$/);
});

test('decodeBody() names the field of a wrong type', async () => {
  assert.equal(
    await refusal('{"data":{"k":1}}'),
    `400 ConfigMap in version "v1" ${handled}json: cannot unmarshal number into Go struct field ConfigMap.data of type string`,
  );
});

test('decodeBody() takes null as an object with nothing in it', async () => {
  assert.deepEqual((await decode('null')).metadata, {});
});

test('decodeBody() refuses a body of very many values before it reads them', async () => {
  const ten = `[${'{},'.repeat(9)}{}]`;
  const words = 'Request entity too large: it holds more than 50000 values';
  assert.equal(await refusal(`{"data":[${`${ten},`.repeat(9_000)}{}]}`), `413 ${words}`);
});

test('decodeBody() refuses a very long list before it reads it', async () => {
  const words = 'Request entity too large: a list or map of it has more than 10000 members';
  assert.equal(await refusal(`{"data":[${'{},'.repeat(20_000)}{}]}`), `413 ${words}`);
});
