// Names and uids of objects that a settled cluster has and no user has written: the same ones each time.
import { type KubeObject, objectKey, withMetadata } from '../meta/object.ts';
import { formatTime } from '../schema/time.ts';

export type NameMaker = {
  /** A name with this prefix that no object of the kind has in the namespace. */
  readonly name: (kind: string, namespace: string, prefix: string) => string;
};

/** The letters of generated names. */
const letters = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
/** Generated names are cut so that their letters fit into a DNS label. */
const maxPrefixLength = 58;

export function createNameMaker(isTaken: (kind: string, key: string) => boolean): NameMaker {
  const next = new Map<string, number>();
  return {
    name(kind, namespace, prefix) {
      const cut = prefix.slice(0, maxPrefixLength);
      const series = `${kind} ${namespace}/${cut}`;
      for (let number = next.get(series) ?? 1; ; number += 1) {
        const name = cut + suffixOf(number);
        if (isTaken(kind, namespace === '' ? name : `${namespace}/${name}`)) continue;
        next.set(series, number + 1);
        return name;
      }
    },
  };
}

function suffixOf(number: number): string {
  let rest = number;
  let text = '';
  while (text.length < suffixLength) {
    text = (letters[rest % letters.length] ?? '') + text;
    rest = Math.floor(rest / letters.length);
  }
  return text;
}

/** With what the server gives a new object: name, uid, generation, time. */
export function identified<T extends KubeObject>(names: NameMaker, object: T, now: number): T {
  const { name, generateName = '', namespace = '' } = object.metadata;
  const given = name || names.name(object.kind, namespace, generateName);
  const metadata = { ...object.metadata, name: given };
  return withMetadata(object, {
    ...metadata,
    uid: madeUid(object.kind, objectKey(metadata)),
    generation: 1,
    creationTimestamp: formatTime(now),
  });
}

export const madeUid = (kind: string, key: string): string => `made-${kind.toLowerCase()}-${key}`;
