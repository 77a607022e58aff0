// Names of objects for findings, and how people and kubectl write them.
import type { KubeObject } from '../meta/object.ts';
import type { ObjectName } from './check.ts';

export function objectName({ kind, metadata }: KubeObject): ObjectName {
  const { namespace, name = '' } = metadata;
  return namespace === undefined || namespace === '' ? { kind, name } : { kind, namespace, name };
}

/** As in `pod default/web-1`. */
export function objectText({ kind, namespace, name }: ObjectName): string {
  return `${kind.toLowerCase()} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}

/** Sorted and compared by this. */
export function objectId({ kind, namespace = '', name }: ObjectName): string {
  return `${kind} ${namespace}/${name}`;
}

/** `a`, `a and b`, `a, b and c`; of long lists the beginning. */
export function listText(names: readonly string[], limit = 4): string {
  if (names.length > limit) {
    return `${names.slice(0, limit - 1).join(', ')} and ${names.length - limit + 1} more`;
  }
  const last = names.at(-1) ?? '';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`;
}

/** `1 pod`, `2 pods`. */
export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
