// The objects of a cluster while changes are made to them, one after the other, and what is to be remembered of each change.
import type { AnyKind } from '../kinds/definition.ts';
import type { Pod } from '../kinds/pod/types.ts';
import { type KubeObject, objectKey } from '../meta/object.ts';
import { createNameMaker, type NameMaker } from '../snapshot/made-names.ts';
import { createReserver, type Reserver } from '../snapshot/reserve-addresses.ts';
import {
  isRead,
  type Snapshot,
  type SnapshotKind,
  type SnapshotObjects,
  snapshotKinds,
} from '../snapshot/snapshot.ts';
import { type Change, ChangeError, namedKinds, type ObjectRef, refText } from './change.ts';

export type Draft = {
  readonly snapshot: Snapshot;
  /** Milliseconds: when the changes are made. */
  readonly now: number;
  readonly names: NameMaker;
  /** Made when the first Service changes: a large cluster has many addresses. */
  readonly reserver: () => Reserver;
  readonly get: <K extends SnapshotKind>(
    kind: K,
    key: string,
  ) => SnapshotObjects[K][number] | undefined;
  readonly all: <K extends SnapshotKind>(kind: K) => readonly SnapshotObjects[K][number][];
  readonly put: (kind: SnapshotKind, object: KubeObject) => void;
  /** The change is named where a later one misses the object. */
  readonly drop: (kind: SnapshotKind, key: string, by: Change) => void;
  /** Which change has removed the object, if one has. */
  readonly droppedBy: (kind: SnapshotKind, key: string) => Change | undefined;
  /** Refuses a second change of the same field that contradicts the first. */
  readonly claimField: (field: string, value: string, by: Change) => void;
  /** Pods that a change takes away at once, by key. */
  readonly lost: Map<string, LostPod>;
  /** What each change comes to. */
  readonly effects: string[];
  /** What is taken for granted, each once. */
  readonly assumptions: Set<string>;
  readonly objects: () => SnapshotObjects;
};

export type LostPod = {
  readonly pod: Pod;
  readonly how: 'evicted' | 'deleted';
};

type Lists = { readonly [K in SnapshotKind]?: Map<string, KubeObject> };

export function createDraft(snapshot: Snapshot, now: number): Draft {
  const changed: Lists = {};
  const dirty = new Set<SnapshotKind>();
  const dropped = new Map<string, Change>();
  const fields = new Map<string, { readonly value: string; readonly by: Change }>();
  const mapOf = (kind: SnapshotKind): Map<string, KubeObject> => {
    const known = changed[kind];
    if (known !== undefined) return known;
    const made = new Map<string, KubeObject>(
      snapshot.objects[kind].map((one: KubeObject) => [objectKey(one.metadata), one]),
    );
    Object.assign(changed, { [kind]: made });
    return made;
  };
  let reserver: Reserver | undefined;
  return {
    ...{ snapshot, now, lost: new Map(), effects: [], assumptions: new Set() },
    names: createNameMaker((kind, key) => {
      const list = listOfKind(kind);
      return mapOf(list).has(key) || dropped.has(`${list} ${key}`);
    }),
    reserver() {
      reserver ??= createReserver({
        services: [...mapOf('services').values()] as unknown as SnapshotObjects['services'],
        serviceCIDRs: snapshot.objects.serviceCIDRs,
        now,
      });
      return reserver;
    },
    get: (kind, key) => mapOf(kind).get(key) as SnapshotObjects[typeof kind][number] | undefined,
    all: (kind) => [...mapOf(kind).values()] as SnapshotObjects[typeof kind][number][],
    put(kind, object) {
      dirty.add(kind);
      mapOf(kind).set(objectKey(object.metadata), object);
    },
    drop(kind, key, by) {
      dirty.add(kind);
      mapOf(kind).delete(key);
      dropped.set(`${kind} ${key}`, by);
    },
    droppedBy: (kind, key) => dropped.get(`${kind} ${key}`),
    claimField(field, value, by) {
      const known = fields.get(field);
      if (known !== undefined && known.value !== value) {
        throw new ChangeError(`${known.by.text} and ${by.text} contradict each other`);
      }
      fields.set(field, { value, by });
    },
    objects: () => ({
      ...snapshot.objects,
      ...Object.fromEntries([...dirty].map((kind) => [kind, [...mapOf(kind).values()]])),
    }),
  };
}

function listOfKind(kind: string): SnapshotKind {
  const found = Object.entries(snapshotKinds).find(([, one]) => one.kind === kind);
  return (found?.[0] ?? 'pods') as SnapshotKind;
}

/** The list of a kind that the snapshot has. */
export function listOf({ kind }: ObjectRef): SnapshotKind {
  const { list } = namedKinds[kind];
  if (list === undefined) throw new Error(`a snapshot has no list of ${kind}`);
  return list;
}

export const keyOfRef = ({ namespace, name }: ObjectRef): string =>
  namespace === undefined ? name : `${namespace}/${name}`;

/** Throws ChangeError where it does not exist, no longer exists, or cannot be read. */
export function findObject<K extends SnapshotKind>(
  draft: Draft,
  kind: K,
  { target, by }: { readonly target: ObjectRef; readonly by: Change },
): SnapshotObjects[K][number] {
  const key = keyOfRef(target);
  const found = draft.get(kind, key);
  if (found !== undefined) return found;
  const earlier = draft.droppedBy(kind, key);
  if (earlier !== undefined) {
    throw new ChangeError(`${by.text}: ${earlier.text} has removed ${refText(target)} before`);
  }
  requireRead(draft, kind, { ...by, namespace: target.namespace });
  const { namespaces } = draft.snapshot;
  const isElsewhere =
    target.namespace !== undefined &&
    namespaces !== undefined &&
    !namespaces.includes(target.namespace);
  throw new ChangeError(
    isElsewhere
      ? `${by.text}: only namespace ${namespaces.join(', ')} was read`
      : `${by.text}: ${pluralOf(kind)} "${target.name}" not found${target.namespace === undefined ? '' : ` in namespace "${target.namespace}"`}`,
  );
}

const pluralOf = (kind: SnapshotKind): string => (snapshotKinds[kind] as AnyKind).plural;

/** Throws ChangeError where what a change depends on was refused. */
export function requireRead(
  { snapshot }: Pick<Draft, 'snapshot'>,
  kind: SnapshotKind,
  { text, namespace }: { readonly text: string; readonly namespace?: string | undefined },
): void {
  if (isRead(snapshot, kind, namespace)) return;
  const why = snapshot.unread.find((one) => one.kind === kind)?.message ?? '';
  throw new ChangeError(`${text}: ${pluralOf(kind)} cannot be read, so this is unknown: ${why}`);
}
