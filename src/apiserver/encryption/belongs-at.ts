// Whether a decrypted object was written for the key under which it was found. Most ciphers do not bind a value to its key:
// someone with write access to the disk or to etcd could copy a Secret to another namespace, or to a ConfigMap.
import { allKinds } from '../../kinds/all.ts';
import { groupResource } from '../../meta/object.ts';

const kindOf = new Map(
  allKinds.map(({ group, plural, kind }) => [groupResource(group, plural), kind]),
);

/** Takes the parsed value. What has no name is no object: it is kept beside them. */
export function belongsAt(value: unknown, path: string): boolean {
  const { kind, metadata } = (value ?? {}) as Named;
  if (metadata?.name === undefined) return true;
  const { namespace = '', name } = metadata;
  const names = namespace === '' ? [name] : [namespace, name];
  const [resource = '', ...placed] = path.split('/').slice(-1 - names.length);
  return placed.join('/') === names.join('/') && (kindOf.get(resource) ?? kind) === kind;
}

type Named = {
  readonly kind?: string;
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
};
