// Decodes bodies for the audit log.
import { gunzipSync } from 'node:zlib';
import { isJsonObject } from '../../schema/json-object.ts';
import { parseYaml } from '../../schema/yaml.ts';

export type Body = {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  readonly contentEncoding?: string;
};

/** The object in the bytes; encodings other than JSON and YAML as Kubernetes' Unknown, so that nothing is lost. */
export function bodyObject({ bytes, contentType, contentEncoding = '' }: Body): unknown {
  if (bytes.length === 0) return undefined;
  const plain = contentEncoding === 'gzip' ? gunzipSync(bytes) : bytes;
  const type = (contentType.split(';')[0] ?? '').trim().toLowerCase();
  const text = (): string => Buffer.from(plain).toString('utf8');
  if (type === '' || type.endsWith('json')) return fromJson(text()) ?? unknown(plain, contentType);
  const parsed = type.endsWith('yaml') ? parseYaml(text()) : undefined;
  return parsed === undefined || 'error' in parsed ? unknown(plain, contentType) : parsed.value;
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function unknown(bytes: Uint8Array, contentType: string): object {
  return { kind: 'Unknown', raw: Buffer.from(bytes).toString('base64'), contentType };
}

/** The same object without metadata.managedFields, its own and those of a list's items. */
export function withoutManagedFields(object: unknown): unknown {
  if (!isJsonObject(object)) return object;
  const { metadata, items } = object as { metadata?: unknown; items?: unknown };
  return {
    ...object,
    ...(typeof metadata === 'object' && metadata !== null
      ? { metadata: { ...metadata, managedFields: undefined } }
      : {}),
    ...(Array.isArray(items) ? { items: items.map(withoutManagedFields) } : {}),
  };
}
