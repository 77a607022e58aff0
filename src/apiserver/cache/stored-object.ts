// Objects ⇄ stored bytes. The stored value is the object's JSON without its resourceVersion, which is the
// revision of the write and known only after it; clients get the same bytes with the resourceVersion spliced in.
import type { AnyKind, ClusterFacts } from '../../kinds/definition.ts';
import {
  groupResource,
  groupVersion,
  type KubeObject,
  type ManagedFieldsEntry,
  type ObjectMeta,
  objectMeta,
  withMetadata,
} from '../../meta/object.ts';
import { isJsonObject, type JsonObject } from '../../schema/json-object.ts';
import type { Write } from '../../storage/store.ts';
import type { FieldSet } from '../patch/fieldset.ts';
import { textOfSet } from '../patch/known-sets.ts';
import type { Cached } from './resource-cache.ts';
import { scratchBytes } from './scratch-buffer.ts';

export type Codec = {
  /** Prefix of all keys of the resource, with its trailing slash. */
  readonly prefix: string;
  readonly key: (namespace: string, name: string) => string;
  readonly toValue: (object: KubeObject) => Uint8Array;
  /** Writes the object, which comes back as the origin of the event and need not be parsed. */
  readonly put: (key: string, object: KubeObject) => Put;
  readonly fromValue: (key: string, value: Uint8Array, revision: number) => Cached;
  /** The object as it was written, at the revision of the write. */
  readonly encode: (key: string, value: Uint8Array, object: KubeObject, revision: number) => Cached;
};

export type Put = Extract<Write, { readonly put: string }>;

const registry = '/registry/';

/** The resource part of a key: `services` of `/registry/services/default/web`. */
export function resourceOfKey(key: string): string {
  return key.slice(registry.length, key.indexOf('/', registry.length));
}

export const registryPrefix = registry;

/** The default; objects of most kinds do not depend on it. */
const defaultCluster: ClusterFacts = { families: ['IPv4'] };

export function createCodec(definition: AnyKind, cluster = defaultCluster): Codec {
  const completion = definition.storedCompletion;
  // Inside a string the closing quote would be escaped: only a member matches.
  const completionMark = completion && Buffer.from(`"${completion.member}":`);
  const apiVersion = groupVersion(definition.group, definition.version);
  const prefix = `${registry}${groupResource(definition.group, definition.plural)}/`;
  const typePart = `{"kind":${JSON.stringify(definition.kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
  const head = Buffer.from(`${typePart}"metadata":{`);
  const prefixLength = Buffer.byteLength(typePart);

  /** The stored bytes with their version, after the uid as Kubernetes writes it. */
  function versioned(value: Uint8Array, revision: number): Buffer {
    const end = endOfUid(value, head.length);
    const at = end ?? head.length;
    const member = `"resourceVersion":"${revision}"`;
    const version = revision === 0 ? '' : end === undefined ? `${member},` : `,${member}`;
    // Not from Node's pool: a slab of it stays allocated as long as one object in it.
    const json = Buffer.allocUnsafeSlow(value.length + version.length);
    json.set(value.subarray(0, at));
    json.write(version, at, 'latin1');
    json.set(value.subarray(at), at + version.length);
    return json;
  }

  /** Field by field: a copy of the object without some fields costs more. */
  function toValue(object: KubeObject): Uint8Array {
    let text = `${typePart}"metadata":${metadataText(object.metadata)}`;
    for (const name of Object.keys(object)) {
      if (name === 'kind' || name === 'apiVersion' || name === 'metadata') continue;
      const field = JSON.stringify((object as JsonObject)[name]);
      if (field !== undefined) text += `,${memberName(name)}${field}`;
    }
    return scratchBytes(`${text}}`);
  }

  /** As this version writes it: other programs and earlier versions may have stored it differently. */
  function canonicalForm(bytes: Buffer): Uint8Array {
    const isCanonical = bytes.length > head.length && bytes.subarray(0, head.length).equals(head);
    if (isCanonical && (completionMark === undefined || bytes.includes(completionMark)))
      return bytes;
    const stored = JSON.parse(bytes.toString('utf8')) as KubeObject;
    const object: KubeObject = completion?.complete(stored, cluster) ?? stored;
    return isCanonical && object === stored ? bytes : toValue(object);
  }

  return {
    prefix,
    key: (namespace, name) => (namespace === '' ? prefix + name : `${prefix}${namespace}/${name}`),
    toValue,
    put: (key, object) => ({ put: key, value: toValue(object), origin: object }),
    encode: (key, value, object, revision) =>
      new Stored({ key, revision, json: versioned(value, revision), prefixLength }, object),
    fromValue(key, value, revision) {
      const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
      return new Stored({
        key,
        revision,
        json: versioned(canonicalForm(bytes), revision),
        prefixLength,
      });
    },
  };
}

const quote = 0x22;
/** What may stand after a member: a comma or a brace. */
const memberEnds: readonly (number | undefined)[] = [0x2c, 0x7d];
const uidStart = Buffer.from('"uid":"');
/** Members that stand before the uid. Names have nothing in them that JSON escapes. */
const namesBeforeUid = ['name', 'generateName', 'namespace'].map((name) =>
  Buffer.from(`"${name}":"`),
);

/** Where the uid ends in metadata that starts at `from`; undefined when it is in another order than ours. */
function endOfUid(value: Uint8Array, from: number): number | undefined {
  let at = from;
  for (const start of namesBeforeUid) {
    if (isAt(value, at, start)) at = value.indexOf(quote, at + start.length) + 2;
  }
  if (!isAt(value, at, uidStart)) return undefined;
  const end = value.indexOf(quote, at + uidStart.length) + 1;
  return memberEnds.includes(value[end]) ? end : undefined;
}

function isAt(value: Uint8Array, at: number, wanted: Uint8Array): boolean {
  for (let i = 0; i < wanted.length; i++) if (value[at + i] !== wanted[i]) return false;
  return true;
}

type Encoded = Omit<Cached, 'object' | 'dropObject'>;

/**
 * A written object is held until `dropObject`. From then on, and where only bytes were read, the object is parsed
 * on access, and held weakly: most objects are only ever sent as bytes, and take several times their memory when parsed.
 * A class, because a getter on each of many thousand objects would cost more than it saves.
 */
class Stored implements Cached {
  readonly key: string;
  readonly revision: number;
  readonly json: Buffer;
  readonly prefixLength: number;
  #written: KubeObject | undefined;
  #isVersioned = false;
  #read: WeakRef<KubeObject> | undefined;

  /** `written`: the object that the bytes encode, without its version. */
  constructor({ key, revision, json, prefixLength }: Encoded, written?: KubeObject) {
    this.key = key;
    this.revision = revision;
    this.json = json;
    this.prefixLength = prefixLength;
    this.#written = written;
  }

  get object(): KubeObject {
    if (this.#written === undefined) return this.#read?.deref() ?? this.#readObject();
    if (!this.#isVersioned) {
      this.#written = withRevision(this.#written, this.revision);
      this.#isVersioned = true;
    }
    return this.#written;
  }

  dropObject(): void {
    this.#written = undefined;
  }

  #readObject(): KubeObject {
    const object = JSON.parse(this.json.toString('utf8')) as KubeObject;
    this.#read = new WeakRef(object);
    return object;
  }
}

/** Without the version. managedFields are most of an object's metadata, and their text is mostly cached. */
function metadataText(metadata: ObjectMeta): string {
  let text = '';
  for (const name of inOrder(Object.keys(metadata))) {
    if (name === 'resourceVersion') continue;
    const field =
      name === 'managedFields'
        ? managersText(metadata.managedFields)
        : jsonText((metadata as JsonObject)[name]);
    if (field !== undefined) text += `${text === '' ? '' : ','}${memberName(name)}${field}`;
  }
  return `{${text}}`;
}

const ranks = new Map(Object.keys(objectMeta.fields).map((name, at) => [name, at]));
const rankOf = (name: string): number => ranks.get(name) ?? ranks.size;

/** In the order in which Kubernetes writes metadata, which most objects have already. */
function inOrder(names: string[]): readonly string[] {
  let last = 0;
  for (const name of names) {
    const rank = rankOf(name);
    if (rank < last) return names.sort((a, b) => rankOf(a) - rankOf(b));
    last = rank;
  }
  return names;
}

function managersText(entries: unknown): string {
  const isList = Array.isArray(entries) && entries.every(isJsonObject);
  // Other programs may have stored anything.
  return isList ? `[${entries.map(entryText).join(',')}]` : JSON.stringify(entries);
}

function entryText(entry: ManagedFieldsEntry): string {
  let text = '';
  for (const name of Object.keys(entry)) {
    const value = (entry as JsonObject)[name];
    const field = name === 'fieldsV1' ? textOfSet(value as FieldSet) : jsonText(value);
    if (field !== undefined) text += `${text === '' ? '' : ','}${memberName(name)}${field}`;
  }
  return `{${text}}`;
}

/** Texts in which nothing is to be escaped. */
const plainText = /^[ !#-[\]-~]*$/;

function jsonText(value: unknown): string | undefined {
  if (typeof value === 'string' && plainText.test(value)) return `"${value}"`;
  return Number.isFinite(value) ? String(value) : JSON.stringify(value);
}

/** `"name":` of the few names that objects and their metadata have. */
const memberNames = new Map<string, string>();
const maxMemberNames = 100;

function memberName(name: string): string {
  let text = memberNames.get(name);
  if (text === undefined) {
    text = `${JSON.stringify(name)}:`;
    if (memberNames.size < maxMemberNames) memberNames.set(name, text);
  }
  return text;
}

/** An object that was never written (revision 0) has none. */
function withRevision(object: KubeObject, revision: number): KubeObject {
  if (revision === 0) return object;
  const version = { resourceVersion: String(revision) };
  return withMetadata(object, Object.assign({}, object.metadata, version));
}
