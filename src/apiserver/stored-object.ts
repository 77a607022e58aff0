// Objects ⇄ stored bytes. The stored value is the object's JSON without its resourceVersion, which is the
// revision of the write and known only after it; the encoded form clients get is the same bytes with it spliced in.
import type { AnyKind } from '../kinds/definition.ts';
import { groupResource, groupVersion, type KubeObject, type ObjectMeta } from '../meta/object.ts';
import type { Cached } from './resource-cache.ts';

export type Codec = {
  /** Prefix of all keys of the resource, with its trailing slash. */
  readonly prefix: string;
  readonly key: (namespace: string, name: string) => string;
  readonly toValue: (object: KubeObject) => Uint8Array;
  readonly fromValue: (key: string, value: Uint8Array, revision: number) => Cached;
  /** The object as it was written, under the revision it got. */
  readonly encode: (key: string, value: Uint8Array, object: KubeObject, revision: number) => Cached;
};

const registry = '/registry/';

/** The resource part of a key: `services` of `/registry/services/default/web`. */
export function resourceOfKey(key: string): string {
  return key.slice(registry.length, key.indexOf('/', registry.length));
}

export const registryPrefix = registry;

/** What was just written comes back from the store as the same bytes, and need not be parsed. */
const written = new WeakMap<Uint8Array, KubeObject>();

export function createCodec(definition: AnyKind): Codec {
  const apiVersion = groupVersion(definition.group, definition.version);
  const prefix = `${registry}${groupResource(definition.group, definition.plural)}/`;
  const typePart = `{"kind":${JSON.stringify(definition.kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
  const head = Buffer.from(`${typePart}"metadata":{`);
  const prefixLength = Buffer.byteLength(typePart);

  /** The stored bytes with their version. */
  function versioned(value: Uint8Array, revision: number): Buffer {
    const version = revision === 0 ? '' : `"resourceVersion":"${revision}",`;
    const json = Buffer.allocUnsafe(value.length + version.length);
    json.set(head);
    json.write(version, head.length, 'latin1');
    json.set(value.subarray(head.length), head.length + version.length);
    return json;
  }

  function encode(key: string, value: Uint8Array, object: KubeObject, revision: number): Cached {
    const json = versioned(value, revision);
    return { key, revision, object: withRevision(object, revision), json, prefixLength };
  }

  /** Field by field: to leave some out of a copy of the object costs more than to write them. */
  function toValue(object: KubeObject): Uint8Array {
    const { metadata } = object;
    let text = `${typePart}"metadata":${JSON.stringify(withoutRevision(metadata))}`;
    for (const name of Object.keys(object)) {
      if (name === 'kind' || name === 'apiVersion' || name === 'metadata') continue;
      const field = JSON.stringify((object as Readonly<Record<string, unknown>>)[name]);
      if (field !== undefined) text += `,${JSON.stringify(name)}:${field}`;
    }
    const value = Buffer.from(`${text}}`);
    written.set(value, object);
    return value;
  }

  return {
    prefix,
    key: (namespace, name) => (namespace === '' ? prefix + name : `${prefix}${namespace}/${name}`),
    toValue,
    encode,
    fromValue(key, value, revision) {
      const known = written.get(value);
      if (known !== undefined) return encode(key, value, known, revision);
      const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
      const isOurs = bytes.length > head.length && bytes.subarray(0, head.length).equals(head);
      if (isOurs) return new Unread(key, revision, versioned(bytes, revision), prefixLength);
      const object = JSON.parse(bytes.toString('utf8')) as KubeObject;
      return encode(key, toValue(object), object, revision);
    },
  };
}

/**
 * Parsed when somebody looks at the object: most of what is read at start is only ever handed on as bytes. A class,
 * because a getter on each of many thousand objects would cost more than it saves.
 */
class Unread implements Cached {
  readonly key: string;
  readonly revision: number;
  readonly json: Buffer;
  readonly prefixLength: number;
  #object: KubeObject | undefined;

  constructor(key: string, revision: number, json: Buffer, prefixLength: number) {
    this.key = key;
    this.revision = revision;
    this.json = json;
    this.prefixLength = prefixLength;
  }

  get object(): KubeObject {
    this.#object ??= JSON.parse(this.json.toString('utf8')) as KubeObject;
    return this.#object;
  }
}

function withoutRevision(metadata: ObjectMeta): ObjectMeta {
  if (metadata.resourceVersion === undefined) return metadata;
  const { resourceVersion: _resourceVersion, ...rest } = metadata;
  return rest;
}

/** What was never written (revision 0) has none. */
function withRevision(object: KubeObject, revision: number): KubeObject {
  if (revision === 0) return object;
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}
