import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiError } from '../../meta/api-error.ts';
import { type NegotiateOptions, negotiate, negotiateError, plainJson } from './negotiate.ts';

const protobuf = 'application/vnd.kubernetes.protobuf';
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const mediaTypes = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';
const streamTypes =
  'application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch';

type Case = {
  readonly accept: string | undefined;
  readonly query?: string;
  readonly options?: NegotiateOptions;
  readonly gives: object;
};

const served: Readonly<Record<string, Case>> = {
  'no Accept header': { accept: undefined, gives: {} },
  'an empty header': { accept: '', gives: {} },
  anything: { accept: '*/*', gives: {} },
  'a charset': { accept: 'application/json;charset=utf-8', gives: {} },
  'the second of two': { accept: 'text/html,application/json', gives: {} },
  YAML: { accept: 'application/yaml', gives: { format: 'yaml' } },
  'YAML preferred by quality': {
    accept: 'application/json;q=0.5, application/yaml;q=0.9',
    gives: { format: 'yaml' },
  },
  protobuf: { accept: `${protobuf},application/json`, gives: { format: 'protobuf' } },
  'what kube-proxy asks for': { accept: `${protobuf}, */*`, gives: { format: 'protobuf' } },
  'JSON where there is no protobuf': {
    accept: `${protobuf},application/json`,
    options: { allow: 'object', protobuf: false },
    gives: {},
  },
  'metadata as protobuf': {
    accept: `${protobuf};as=PartialObjectMetadata;v=v1;g=meta.k8s.io`,
    gives: { format: 'protobuf', as: 'PartialObjectMetadata' },
  },
  'a Table as JSON, as there is none in protobuf': {
    accept: `${protobuf};as=Table;v=v1;g=meta.k8s.io,${table}`,
    gives: { as: 'Table' },
  },
  'a stream of protobuf': {
    accept: `${protobuf};stream=watch`,
    options: { allow: 'watch' },
    gives: { format: 'protobuf' },
  },
  'a Table': { accept: `${table},application/json`, gives: { as: 'Table' } },
  'an older Table': {
    accept: 'application/json;as=Table;v=v1beta1;g=meta.k8s.io',
    gives: { as: 'Table', metaVersion: 'v1beta1' },
  },
  'a Table of an unknown version, or JSON': {
    accept: 'application/json;as=Table;v=v2;g=meta.k8s.io,application/json',
    gives: {},
  },
  'an unknown form, or JSON': {
    accept: 'application/json;as=Foo;v=v1;g=meta.k8s.io,application/json',
    gives: {},
  },
  'metadata of a list': {
    accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
    gives: { as: 'PartialObjectMetadataList' },
  },
  'rows without objects': {
    accept: table,
    query: 'includeObject=None',
    gives: { as: 'Table', includeObject: 'None' },
  },
  'includeObject without a Table': { accept: '', query: 'includeObject=Foo', gives: {} },
  'a stream': {
    accept: 'application/json;stream=watch',
    options: { allow: 'watch' },
    gives: {},
  },
  'indented JSON by query': { accept: '', query: 'pretty=true', gives: { pretty: true } },
  'indented JSON by parameter': { accept: 'application/json;pretty=1', gives: { pretty: true } },
  'an invalid value of pretty': { accept: '', query: 'pretty=x', gives: {} },
  'a person with curl': {
    accept: '*/*',
    options: { allow: 'object', userAgent: 'curl/8.5.0' },
    gives: { pretty: true },
  },
  'a person with curl who wants it compact': {
    accept: '*/*',
    query: 'pretty=false',
    options: { allow: 'object', userAgent: 'curl/8.5.0' },
    gives: {},
  },
};

const refused: Readonly<Record<string, Case>> = {
  'a type that is not served, on an object': {
    accept: 'image/png',
    gives: {
      code: 406,
      message: `406: Not Acceptable\n\nAvailable representations: ${mediaTypes}`,
    },
  },
  'a type that is not served, on a list': {
    accept: 'text/html',
    options: { allow: 'list' },
    gives: {
      code: 406,
      message: `406: Not Acceptable\n\nAvailable representations: ${mediaTypes}, ${streamTypes}`,
    },
  },
  'half a wildcard': { accept: 'application/*', gives: { code: 406 } },
  'an unknown form alone': {
    accept: 'application/json;as=Foo;v=v1;g=meta.k8s.io',
    gives: { code: 406, message: `only the following media types are accepted: ${mediaTypes}` },
  },
  'a stream of YAML': {
    accept: 'application/yaml',
    options: { allow: 'watch' },
    gives: { code: 406, message: `only the following media types are accepted: ${streamTypes}` },
  },
  'an unknown includeObject': {
    accept: table,
    query: 'includeObject=Foo',
    gives: {
      code: 400,
      message:
        "Unable to convert to Table as requested: includeObject: Invalid value: \"Foo\": must be 'Metadata', 'Object', 'None', or empty",
    },
  },
};

const run = ({ accept, query = '', options = { allow: 'object' } }: Case) =>
  negotiate(accept, new URLSearchParams(query), options);

describe('negotiate()', () => {
  for (const [name, given] of Object.entries(served)) {
    it(`serves ${name}`, () => assert.deepEqual(run(given), { ...plainJson, ...given.gives }));
  }
  for (const [name, given] of Object.entries(refused)) {
    it(`refuses ${name}`, () => {
      assert.throws(
        () => run(given),
        (error) => {
          assert.ok(error instanceof ApiError);
          assert.deepEqual({ ...error.status, ...given.gives }, error.status);
          return true;
        },
      );
    });
  }
});

describe('negotiateError()', () => {
  const cases: Readonly<Record<string, object>> = {
    [`${table},application/json`]: {},
    [table]: {},
    'text/html': {},
    'application/yaml': { format: 'yaml' },
    [protobuf]: { format: 'protobuf' },
  };
  for (const [accept, gives] of Object.entries(cases)) {
    it(`writes a Status for ${accept}`, () =>
      assert.deepEqual(negotiateError(accept, new URLSearchParams()), { ...plainJson, ...gives }));
  }
});
