// The body of a write: bytes → JSON, YAML or protobuf → an object of the kind that the path names, in canonical form.

import type { AnyKind } from '../../kinds/definition.ts';
import { badRequest, failure } from '../../meta/api-error.ts';
import { groupVersion, type KubeObject } from '../../meta/object.ts';
import { type Decoded, decode, decodeSteps, strictProblems } from '../../schema/decode.ts';
import { findDuplicateFields } from '../../schema/duplicates.ts';
import { goJsonParseError } from '../../schema/go-json-error.ts';
import { goQuote } from '../../schema/go-quote.ts';
import type { JsonObject } from '../../schema/json-object.ts';
import { treeFromText, valueOfTree } from '../../schema/json-tree.ts';
import { isTextTooDeep, tooDeep } from '../../schema/nesting.ts';
import type { StructNode } from '../../schema/node.ts';
import type { ValueLimits } from '../../schema/value-count.ts';
import { checkTextValues, checkValues } from '../limits/check-values.ts';
import { type Pace, runSteps } from '../limits/pace.ts';
import { keepReset } from '../patch/managed-fields.ts';
import { parseYamlText } from '../yaml/parse-yaml-text.ts';
import { openProtobufBody, type ProtobufBody } from './protobuf-body.ts';
import type { FieldValidation } from './write-options.ts';

export type DecodeRequest = {
  readonly body: Uint8Array;
  readonly contentType: string;
  readonly kind: BodyKind;
  /** All kinds, to distinguish a wrong kind from an unknown one. */
  readonly known: readonly AnyKind[];
  readonly fieldValidation: FieldValidation;
  readonly warn: (text: string) => void;
  readonly pace: Pace;
};

/** What is expected: the group version, kind and schema of the path. */
export type BodyKind = {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly schema: StructNode;
  /** Earlier versions with the same fields, which clients may still name. */
  readonly olderVersions?: readonly string[];
};

/** Shown when a body cannot be recognised; longer ones are cut. */
const shownBytes = 30;

export async function decodeBody(request: DecodeRequest): Promise<KubeObject> {
  const { body, kind, fieldValidation, warn, pace } = request;
  const media = mediaOf(request.contentType);
  const fail = (why: string): Error => unrecognized(kind.kind, why, body);
  if (media === 'protobuf') return decodeProtobuf(request, openProtobufBody(body, fail));
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  const { raw, isRepeating, duplicates } =
    media === 'json' ? await parseJsonBody(text, pace, fail) : await parseYamlBody(text, fail);
  checkKind(raw, request);
  if (pace.isLarge()) await pace.pause();
  const source = media === 'json' ? { raw, text } : { raw };
  const { object, problems, error } = await decodeValue(kind.schema, source, pace);
  const handledAs = (): string => handledAsText(raw, kind, versionIn(raw, kind));
  if (error !== undefined) throw badRequest(`${handledAs()}: ${error}`);
  if (fieldValidation !== 'Ignore') {
    // Of JSON in the order of the document, repeated fields among the unknown ones.
    const found = isRepeating
      ? strictProblems(kind.schema, text)
      : problems.unknown.map(unknownField);
    if (fieldValidation === 'Strict') refuseProblems(duplicates, found, handledAs);
    for (const problem of [...duplicates, ...found]) warn(problem);
  }
  return keepReset(raw, typed(object as KubeObject, kind));
}

/** A parsed value as a strict request would be decoded: for objects that do not come from a request. */
export function decodeStrict(
  kind: BodyKind,
  raw: JsonObject,
  duplicates: readonly string[] = [],
): KubeObject {
  const { object, problems, error } = decode(kind.schema, raw);
  const handledAs = (): string => handledAsText(raw, kind, versionIn(raw, kind));
  if (error !== undefined) throw badRequest(`${handledAs()}: ${error}`);
  refuseProblems(duplicates, problems.unknown.map(unknownField), handledAs);
  return typed(object as KubeObject, kind);
}

export type DecodeSource = {
  /** The parsed value. */
  readonly raw: unknown;
  /** Its text, if it was JSON. */
  readonly text?: string;
  /** An object that is decoded already, with which it may share parts. */
  readonly known?: object;
};

/** Large objects are decoded in steps. */
export function decodeValue(
  schema: StructNode,
  { raw, text, known }: DecodeSource,
  pace: Pace,
): Decoded | Promise<Decoded> {
  return pace.isLarge()
    ? decodeLarge(decodeSteps(schema, raw, text, known), pace)
    : decode(schema, raw, text, known);
}

async function decodeLarge(steps: Generator<undefined, Decoded>, pace: Pace): Promise<Decoded> {
  await pace.pause();
  const decoded = await runSteps(steps, pace);
  await pace.pause();
  return decoded;
}

function refuseProblems(
  duplicates: readonly string[],
  found: readonly string[],
  handledAs: () => string,
): void {
  const all = duplicates.length === 0 ? found : [repeatedKeys(duplicates), ...found];
  if (all.length === 0) return;
  throw badRequest(`${handledAs()}: strict decoding error: ${all.join(', ')}`);
}

/** Unknown fields in protobuf have no names to report. */
async function decodeProtobuf(
  request: DecodeRequest,
  { type, fields }: ProtobufBody,
): Promise<KubeObject> {
  const { kind, pace } = request;
  checkKind(type, request);
  const fail = (why: string): Error =>
    badRequest(`${handledAsText(type, kind, versionIn(type, kind))}: ${why}`);
  const raw = fields(kind.schema, fail);
  if (pace.isLarge()) {
    await pace.pause();
    checkValues(raw);
  }
  const { object, error } = await decodeValue(kind.schema, { raw }, pace);
  if (error !== undefined) throw fail(error);
  return typed(object as KubeObject, kind);
}

const handledAsText = (raw: JsonObject, kind: BodyKind, version: string): string =>
  `${kindIn(raw, kind)} in version ${goQuote(version)} cannot be handled as a ${kind.kind}`;

export const unknownField = (field: string): string => `unknown field ${goQuote(field)}`;

/** Every stored object has kind and apiVersion, also when the body did not. */
export function typed(object: KubeObject, { kind, group, version }: BodyKind): KubeObject {
  const apiVersion = groupVersion(group, version);
  if (object.kind === kind && object.apiVersion === apiVersion) return object;
  return { ...object, kind, apiVersion };
}

type Media = 'json' | 'yaml' | 'protobuf';

export function mediaOf(contentType: string): Media {
  if (contentType === 'application/json') return 'json';
  const media = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (media === '' || media === 'application/json') return 'json';
  if (media === 'application/yaml') return 'yaml';
  if (media === 'application/vnd.kubernetes.protobuf') return 'protobuf';
  throw unknownFormat();
}

function unknownFormat(): Error {
  return failure({
    code: 415,
    reason: 'UnsupportedMediaType',
    message:
      'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  });
}

type ParsedBody = {
  readonly raw: JsonObject;
  /** Whether a JSON text has a key twice. */
  readonly isRepeating: boolean;
  /** Go's messages about keys that a YAML text has twice. */
  readonly duplicates: readonly string[];
};

type Fail = (why: string) => Error;

async function parseJsonBody(text: string, pace: Pace, fail: Fail): Promise<ParsedBody> {
  const refused = (why: string) => fail(noVersionKind(why));
  checkJsonSize(text, refused);
  if (pace.isLarge()) await pace.pause();
  const value = parseCheckedJson(text, refused);
  if (pace.isLarge()) await pace.pause();
  const isRepeating = findDuplicateFields(text).length > 0;
  const raw = objectIn(isRepeating ? valueOfTree(treeFromText(text)) : value, fail);
  return { raw, isRepeating, duplicates: [] };
}

export const noVersionKind = (why: string): string =>
  `couldn't get version/kind; json parse error: ${why}`;

/** Null is an empty object; other values, and objects whose kind or apiVersion is no string, are refused. */
function objectIn(value: unknown, fail: Fail): JsonObject {
  if (value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw fail(noVersionKind(notAnObject(value)));
  }
  const fields = value as JsonObject;
  const { kind, apiVersion } = fields;
  if (!isText(apiVersion)) throw fail(noVersionKind(notText('apiVersion', apiVersion)));
  if (!isText(kind)) throw fail(noVersionKind(notText('kind', kind)));
  if (typeof apiVersion === 'string' && apiVersion.split('/').length > 2)
    throw fail(`unexpected GroupVersion string: ${apiVersion}`);
  return fields;
}

const isText = (value: unknown): boolean => typeof (value ?? '') === 'string';
const notText = (key: string, value: unknown): string =>
  `json: cannot unmarshal ${jsonTypeOf(value)} into Go struct field .${key} of type string`;

export function parseJson(
  text: string,
  fail: (why: string) => Error,
  limits?: ValueLimits,
): unknown {
  checkJsonSize(text, fail, limits);
  return parseCheckedJson(text, fail);
}

function checkJsonSize(text: string, fail: (why: string) => Error, limits?: ValueLimits): void {
  if (isTextTooDeep(text)) throw fail(tooDeep);
  checkTextValues(text, limits);
}

function parseCheckedJson(text: string, fail: (why: string) => Error): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) throw fail(goJsonParseError(text));
    throw error;
  }
}

const typeMeta =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

export const notAnObject = (value: unknown): string =>
  `json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type ${typeMeta}`;

function jsonTypeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

async function parseYamlBody(text: string, fail: Fail): Promise<ParsedBody> {
  const parsed = await parseYamlText(text);
  if ('error' in parsed) throw fail(parsed.error);
  const raw = objectIn(parsed.value, fail);
  return { raw, isRepeating: false, duplicates: parsed.duplicates };
}

/** Go's error for all keys that a YAML text has twice. */
export const repeatedKeys = (duplicates: readonly string[]): string =>
  `yaml: unmarshal errors:\n  ${duplicates.join('\n  ')}`;

function unrecognized(kind: string, why: string, body: Uint8Array): Error {
  return badRequest(
    `the object provided is unrecognized (must be of type ${kind}): ${why} (${summary(body)})`,
  );
}

function summary(body: Uint8Array): string {
  if (body.length === 0) return '<empty>';
  const bytes = Buffer.from(body.subarray(0, shownBytes));
  const shown = bytes[0] === 0x7b ? bytes.toString('utf8') : bytes.toString('hex');
  return body.length > shownBytes ? `${shown} ...` : shown;
}

const kindIn = (raw: JsonObject, expected: BodyKind): string =>
  typeof raw.kind === 'string' && raw.kind !== '' ? raw.kind : expected.kind;

/** Of a matching body: the version of the path, or an older one. */
const versionIn = (raw: JsonObject, { group, version, olderVersions = [] }: BodyKind): string =>
  olderVersions.find((older) => raw.apiVersion === groupVersion(group, older)) ?? version;

/** Versions that Kubernetes knows and no longer serves: they have a message of their own. */
const otherVersions: Readonly<Record<string, readonly string[]>> = {
  'discovery.k8s.io': ['v1beta1'],
  'coordination.k8s.io': ['v1alpha2', 'v1beta1'],
  'events.k8s.io': ['v1beta1'],
  'networking.k8s.io': ['v1alpha1', 'v1beta1'],
  apps: ['v1beta1', 'v1beta2'],
  policy: ['v1beta1'],
  'scheduling.k8s.io': ['v1alpha1', 'v1beta1'],
  'rbac.authorization.k8s.io': ['v1alpha1', 'v1beta1'],
};

/** Kubernetes' internal name of each group, which its conversion errors show. */
const internalPackage = (group: string): string =>
  group === '' || group === 'events.k8s.io'
    ? 'core'
    : group.startsWith('rbac.')
      ? 'rbac'
      : (group.split('.')[0] ?? group);

/** kind and apiVersion may be left out; otherwise they must match the path. */
function checkKind(raw: JsonObject, { kind: expected, known }: DecodeRequest): void {
  const mismatch = kindMismatch(raw, expected, known);
  if (mismatch === undefined) return;
  if (mismatch.isOtherVersion) throw badRequest(mismatch.why);
  throw badRequest(`${handledAsText(raw, expected, mismatch.version)}: ${mismatch.why}`);
}

export type KindMismatch = {
  readonly why: string;
  /** The version that the body names, without its group. */
  readonly version: string;
  /** The right kind in a version that Kubernetes knows. */
  readonly isOtherVersion: boolean;
};

/** How the kind and apiVersion of an object differ from the expected ones. */
export function kindMismatch(
  raw: JsonObject,
  expected: BodyKind,
  known: readonly AnyKind[],
): KindMismatch | undefined {
  const expectedVersion = groupVersion(expected.group, expected.version);
  const apiVersion =
    typeof raw.apiVersion === 'string' && raw.apiVersion !== ''
      ? raw.apiVersion.replace(/^\//, '')
      : expectedVersion;
  const kind = kindIn(raw, expected);
  const isVersion =
    apiVersion === expectedVersion ||
    expected.olderVersions?.some((older) => apiVersion === groupVersion(expected.group, older));
  if (isVersion && kind === expected.kind) return undefined;
  const [group = '', version = ''] = apiVersion.includes('/')
    ? apiVersion.split('/')
    : ['', apiVersion];
  if (
    kind === expected.kind &&
    group === expected.group &&
    (otherVersions[group]?.includes(version) || `${apiVersion} ${kind}` === 'batch/v1beta1 CronJob')
  ) {
    const why = `the API version in the data (${apiVersion}) does not match the expected API version (${expectedVersion})`;
    return { why, version, isOtherVersion: true };
  }
  const isKnown = known.some(
    (k) =>
      groupVersion(k.group, k.version) === apiVersion &&
      (k.kind === kind || `${k.kind}List` === kind),
  );
  const why = isKnown
    ? `converting (${version}.${kind}) to (${internalPackage(expected.group)}.${expected.kind}): unknown conversion`
    : `no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)} in scheme "pkg/api/legacyscheme/scheme.go:30"`;
  return { why, version, isOtherVersion: false };
}
