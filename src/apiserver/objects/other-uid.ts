// The answer to a PUT that names the uid of another object, in the words of Kubernetes' storage layer.
import type { AnyKind } from '../../kinds/definition.ts';
import { conflict } from '../../meta/api-error.ts';

type Mismatch = {
  readonly definition: AnyKind;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Empty when the object does not exist. */
  readonly found: string;
};

/** Where Kubernetes keeps resources whose place is not their plural; its texts show it. */
const upstreamPlaces: Readonly<Record<string, string>> = {
  services: 'services/specs',
  endpoints: 'services/endpoints',
  nodes: 'minions',
  replicationcontrollers: 'controllers',
  ingresses: 'ingress',
};

export function otherUid({ definition, namespace, name, uid, found }: Mismatch): Error {
  const place = upstreamPlaces[definition.plural] ?? definition.plural;
  const key = `/registry/${place}/${definition.namespaced ? `${namespace}/` : ''}${name}`;
  return conflict(
    { group: definition.group, resource: definition.plural },
    name,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${found}`,
  );
}
