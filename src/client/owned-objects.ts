// The objects that the owners of one kind control: found in the informer's copy, overlaid with own writes, adopted and released.
import type { Clock } from '../host/clock.ts';
import { type Claims, claimMembers } from '../meta/claim.ts';
import type { KubeObject } from '../meta/object.ts';
import { groupVersion, objectKey } from '../meta/object.ts';
import { controllerOf } from '../meta/owner.ts';
import { deepEqual } from '../schema/equality.ts';
import type { ApiCaller } from './api-call.ts';
import { applyClaims } from './apply-claims.ts';
import { createExpectations, type Expectations, type WriteRecorder } from './expectations.ts';
import type { Informer } from './informer.ts';
import type { ResourceType } from './resource.ts';
import { type ResourceClient, resourceClient } from './rest.ts';
import {
  byController,
  byNamespace,
  controllerIndex,
  namespaceIndex,
  orphansIn,
} from './shared-indexes.ts';

export type OwnedOptions<O extends KubeObject, T extends KubeObject> = {
  readonly caller: ApiCaller;
  readonly clock: Clock;
  readonly ownerType: ResourceType<O>;
  readonly owners: Informer<O>;
  readonly type: ResourceType<T>;
  readonly informer: Informer<T>;
  /** Whether the object belongs to the owner, by its labels and name; owner references are looked at besides. */
  readonly isMember: (owner: O, object: T) => boolean;
  /** Called with the key of an owner when another client changed one of its objects. */
  readonly changed: (key: string) => void;
};

export type OwnedObjects<O extends KubeObject, T extends KubeObject> = {
  readonly client: ResourceClient<T>;
  /** Runs `work` on the key of an owner; all writes belong inside. */
  readonly during: Expectations<T>['during'];
  /** Adopts and releases; returns what the owner controls then. */
  readonly claim: (owner: O, recorder: WriteRecorder<T>) => Promise<readonly T[]>;
  /** What the owner controls, without adoptions. */
  readonly of: (owner: O) => readonly T[];
  readonly forget: (key: string) => void;
  readonly close: () => void;
};

export function followOwned<O extends KubeObject, T extends KubeObject>(
  options: OwnedOptions<O, T>,
): OwnedObjects<O, T> {
  const { caller, clock, ownerType, owners, informer, isMember, changed } = options;
  const client = resourceClient(caller, options.type);
  const ownerClient = resourceClient(caller, ownerType);
  owners.addIndex(namespaceIndex, byNamespace);
  informer.addIndex(controllerIndex, byController);
  const writes = createExpectations<T>({
    clock,
    keyOf: (object) => keyOfOwner(ownerType, object),
    changedExternally: changed,
  });
  const claimsOf = (owner: O, candidates: readonly T[]): Claims<T> =>
    claimMembers(
      owner,
      (object) => isMember(owner, object),
      writes.over(objectKey(owner.metadata), candidates),
    );
  const controlled = ({ metadata }: O): readonly T[] =>
    informer.store.select(controllerIndex, metadata.uid ?? '');
  const stops = [informer.onChange(writes.handler), informer.onChange(orphanHandler(options))];
  return {
    client,
    during: writes.during,
    claim(owner, recorder) {
      const { name = '', namespace = '' } = owner.metadata;
      const orphans = informer.store.select(controllerIndex, orphansIn(namespace));
      return applyClaims(claimsOf(owner, [...controlled(owner), ...orphans]), {
        client,
        owner,
        readOwner: () => ownerClient.get({ namespace, name }),
        wrote: recorder.wrote,
      });
    },
    of: (owner) => claimsOf(owner, controlled(owner)).owned,
    forget: writes.forget,
    close() {
      for (const stop of stops) stop();
    },
  };
}

function keyOfOwner<O extends KubeObject>(
  { group, version, kind }: ResourceType<O>,
  object: KubeObject,
): string | undefined {
  const controller = controllerOf(object);
  if (controller?.kind !== kind || controller.apiVersion !== groupVersion(group, version))
    return undefined;
  return objectKey({ namespace: object.metadata.namespace ?? '', name: controller.name });
}

/** What has no controller, or lost its labels or its controller, may be adopted by another owner. */
function orphanHandler<O extends KubeObject, T extends KubeObject>({
  owners,
  isMember,
  changed,
}: OwnedOptions<O, T>) {
  const changedMembers = (object: T): void => {
    if (controllerOf(object) !== undefined) return;
    for (const owner of owners.store.select(namespaceIndex, object.metadata.namespace ?? '')) {
      if (isMember(owner, object)) changed(objectKey(owner.metadata));
    }
  };
  return {
    add: changedMembers,
    update(before: T, after: T): void {
      const isReleased =
        controllerOf(before)?.uid !== controllerOf(after)?.uid ||
        !deepEqual(before.metadata.labels, after.metadata.labels);
      if (isReleased) changedMembers(after);
    },
  };
}
