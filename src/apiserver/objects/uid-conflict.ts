// The conflict of a PUT that names the uid of another object, worded as by Kubernetes' storage layer.
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

/** etcd paths of Kubernetes that are not the plural; its messages show them. */
const upstreamPaths: Readonly<Record<string, string>> = {
  services: 'services/specs',
  endpoints: 'services/endpoints',
  nodes: 'minions',
  replicationcontrollers: 'controllers',
  ingresses: 'ingress',
};

export function uidConflict({ definition, namespace, name, uid, found }: Mismatch): Error {
  const path = upstreamPaths[definition.plural] ?? definition.plural;
  const key = `/registry/${path}/${definition.namespaced ? `${namespace}/` : ''}${name}`;
  return conflict(
    { group: definition.group, resource: definition.plural },
    name,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${found}`,
  );
}
