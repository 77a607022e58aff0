// EncryptionConfiguration of apiserver.config.k8s.io/v1, read and checked before it is used. Upstream: apis/apiserver/validation/validation_encryption.go.
import {
  errorText,
  type FieldError,
  invalid,
  notSupported,
  required,
} from '../../meta/field-error.ts';
import { isJsonObject, type JsonObject } from '../../schema/json-object.ts';
import { parseYaml } from '../../schema/yaml.ts';
import { checkResources } from './check-resources.ts';

export type EncryptionKey = { readonly name: string; readonly secret: Uint8Array };
export type KeyedProvider = {
  readonly type: 'aescbc' | 'aesgcm' | 'secretbox';
  readonly keys: readonly EncryptionKey[];
};
export type Provider = KeyedProvider | { readonly type: 'identity' };

export type EncryptionConfig = {
  readonly resources: readonly {
    readonly resources: readonly string[];
    readonly providers: readonly Provider[];
  }[];
};

/** The file cannot be used; the text says why and shows no secret. */
export class EncryptionConfigError extends Error {
  constructor(path: string, problems: readonly string[]) {
    super(`Cannot use the encryption configuration "${path}": ${problems.join('; ')}`);
    this.name = 'EncryptionConfigError';
  }
}

/** Throws EncryptionConfigError. */
export function parseEncryptionConfig(text: string, path: string): EncryptionConfig {
  const parsed = parseYaml(text);
  if ('error' in parsed) {
    // The parser's own words may quote the file.
    const line = /line \d+/.exec(parsed.error)?.[0];
    throw new EncryptionConfigError(path, [
      `it is not YAML${line === undefined ? '' : ` (${line})`}`,
    ]);
  }
  const errors: FieldError[] = parsed.duplicates.map(duplicateField);
  const fields = fieldsOf(parsed.value, '', ['apiVersion', 'kind', 'resources'], errors);
  if (fields.apiVersion !== apiVersion)
    errors.push(notSupported('apiVersion', shown(fields.apiVersion), [apiVersion]));
  if (fields.kind !== kind) errors.push(notSupported('kind', shown(fields.kind), [kind]));
  const entries = listOf(fields.resources, 'resources', errors);
  const resources = entries.map((entry, at) => entryOf(entry, `resources[${at}]`, errors));
  if (errors.length > 0) throw new EncryptionConfigError(path, errors.map(errorText));
  return { resources };
}

const apiVersion = 'apiserver.config.k8s.io/v1';
const kind = 'EncryptionConfiguration';

const duplicateField = (): FieldError => invalid('<root>', 'REDACTED', 'a field is given twice');
/** Of a field that is no secret. */
const shown = (value: unknown): string => (typeof value === 'string' ? value : '');

function entryOf(
  value: unknown,
  at: string,
  errors: FieldError[],
): EncryptionConfig['resources'][number] {
  const fields = fieldsOf(value, at, ['resources', 'providers'], errors);
  const names = listOf(fields.resources, `${at}.resources`, errors).map((name, n) => {
    if (typeof name === 'string') return name;
    errors.push(invalid(`${at}.resources[${n}]`, 'REDACTED', 'must be a string'));
    return '';
  });
  errors.push(...checkResources(names, `${at}.resources`));
  const providers = listOf(fields.providers, `${at}.providers`, errors).flatMap((provider, n) =>
    providerOf(provider, `${at}.providers[${n}]`, errors),
  );
  return { resources: names, providers };
}

const providerTypes = ['kms', 'aesgcm', 'aescbc', 'secretbox', 'identity'] as const;
const aesBytes = [16, 24, 32];
const keyBytes = { aescbc: aesBytes, aesgcm: aesBytes, secretbox: [32] } as const;

function providerOf(value: unknown, at: string, errors: FieldError[]): readonly Provider[] {
  const fields = fieldsOf(value, at, providerTypes, errors);
  const types = providerTypes.filter((type) => fields[type] !== undefined && fields[type] !== null);
  const [type] = types;
  if (type === undefined) {
    errors.push(required(at, noProvider));
    return [];
  }
  if (types.length > 1) errors.push(invalid(at, 'REDACTED', severalProviders));
  switch (type) {
    case 'identity':
      fieldsOf(fields.identity, `${at}.identity`, [], errors);
      return [{ type }];
    case 'kms':
      errors.push(invalid(`${at}.kms`, 'REDACTED', noKms));
      return [];
    default: {
      const { keys } = fieldsOf(fields[type], `${at}.${type}`, ['keys'], errors);
      const path = `${at}.${type}.keys`;
      const listed = keys === undefined || keys === null ? [] : listOf(keys, path, errors, 'keys');
      if (keys === undefined || keys === null) errors.push(required(path, atLeastOne('keys')));
      return [
        {
          type,
          keys: listed.flatMap((key, n) => keyOf(key, `${path}[${n}]`, keyBytes[type], errors)),
        },
      ];
    }
  }
}

const noProvider =
  'provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity';
const severalProviders =
  'more than one provider specified in a single element, should split into different list elements';
const noKms = 'kms is not supported by this server; use aescbc, aesgcm or secretbox';
const atLeastOne = (what: string): string => `at least one ${what} is required`;
const mandatory = (field: string): string => `${field} is a mandatory field for a key`;

function keyOf(
  value: unknown,
  at: string,
  lengths: readonly number[],
  errors: FieldError[],
): readonly EncryptionKey[] {
  const { name, secret } = fieldsOf(value, at, ['name', 'secret'], errors);
  if (typeof name !== 'string' || name === '') {
    errors.push(required(`${at}.name`, mandatory('name')));
    return [];
  }
  if (typeof secret !== 'string' || secret === '') {
    errors.push(required(`${at}.secret`, mandatory('secret')));
    return [];
  }
  const bytes = decodeBase64(secret);
  if (bytes === undefined)
    errors.push(invalid(`${at}.secret`, 'REDACTED', 'secrets must be base64 encoded'));
  else if (!lengths.includes(bytes.length)) {
    const detail = `secret is not of the expected length, got ${bytes.length}, expected one of [${lengths.join(' ')}]`;
    errors.push(invalid(`${at}.secret`, 'REDACTED', detail));
  }
  return bytes === undefined ? [] : [{ name, secret: bytes }];
}

/** Standard base64 with padding; line breaks are skipped, as Go does. */
function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text.replace(/[\r\n]/g, '') ? bytes : undefined;
}

function listOf(value: unknown, at: string, errors: FieldError[], what = at): readonly unknown[] {
  if (Array.isArray(value) && value.length > 0) return value;
  if (value === undefined || value === null || Array.isArray(value))
    errors.push(required(at, atLeastOne(what)));
  else errors.push(invalid(at, 'REDACTED', 'must be a list'));
  return [];
}

function fieldsOf(
  value: unknown,
  at: string,
  known: readonly string[],
  errors: FieldError[],
): JsonObject {
  if (!isJsonObject(value)) {
    errors.push(invalid(at === '' ? '<root>' : at, 'REDACTED', 'must be an object'));
    return {};
  }
  for (const name of Object.keys(value)) {
    // The name itself may be a secret in the wrong field.
    if (!known.includes(name))
      errors.push(invalid(at === '' ? '<root>' : at, 'REDACTED', unknownField(known)));
  }
  return value as JsonObject;
}

const unknownField = (known: readonly string[]): string =>
  known.length === 0 ? 'it has no fields' : `unknown field; there are ${known.join(', ')}`;
