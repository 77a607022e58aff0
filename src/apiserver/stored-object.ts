// Objects ⇄ stored bytes. The stored value is the object's JSON without its resourceVersion, which is the
// revision of the write and known only after it; the encoded form clients get is the same bytes with it spliced in.
import type { AnyKind } from '../kinds/definition.ts';
import { groupResource, groupVersion, type KubeObject } from '../meta/object.ts';
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

export function createCodec(definition: AnyKind): Codec {
  const apiVersion = groupVersion(definition.group, definition.version);
  const prefix = `${registry}${groupResource(definition.group, definition.plural)}/`;
  const typePart = `{"kind":${JSON.stringify(definition.kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
  const head = Buffer.from(`${typePart}"metadata":{`);
  const prefixLength = Buffer.byteLength(typePart);

  function encode(key: string, value: Uint8Array, object: KubeObject, revision: number): Cached {
    const version = Buffer.from(`"resourceVersion":"${revision}",`);
    const json = Buffer.concat([head, version, value.subarray(head.length)]);
    return { key, revision, object: withRevision(object, revision), json, prefixLength };
  }

  function toValue(object: KubeObject): Uint8Array {
    const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = object;
    const { resourceVersion: _resourceVersion, ...meta } = metadata;
    return Buffer.from(
      JSON.stringify({ kind: definition.kind, apiVersion, metadata: meta, ...rest }),
    );
  }

  return {
    prefix,
    key: (namespace, name) => (namespace === '' ? prefix + name : `${prefix}${namespace}/${name}`),
    toValue,
    encode,
    fromValue(key, value, revision) {
      const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
      const object = JSON.parse(bytes.toString('utf8')) as KubeObject;
      const ours = bytes.length > head.length && bytes.subarray(0, head.length).equals(head);
      return encode(key, ours ? bytes : toValue(object), object, revision);
    },
  };
}

function withRevision(object: KubeObject, revision: number): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}
