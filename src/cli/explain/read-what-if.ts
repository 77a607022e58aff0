// Reads what a comparison needs: all namespaces where the user may, and the user's own otherwise.
import type { Session } from '../../flags/client-flags.ts';
import { UsageError, type World } from '../../flags/command.ts';
import type { AnyKind } from '../../kinds/definition.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { Manifest } from '../../snapshot/manifest.ts';
import { readSnapshot } from '../../snapshot/read-snapshot.ts';
import {
  isRead,
  makeSnapshot,
  type Snapshot,
  type SnapshotKind,
  type SnapshotObjects,
  snapshotKinds,
} from '../../snapshot/snapshot.ts';
import { missingRightsText } from './explain-session.ts';
import { withProgress } from './progress.ts';

const kinds = [
  'namespaces',
  'nodes',
  'services',
  'endpointSlices',
  'endpoints',
  'pods',
  'serviceCIDRs',
  'deployments',
  'replicaSets',
  'podDisruptionBudgets',
  'configMaps',
] as const satisfies readonly SnapshotKind[];

/** Without these there is nothing to compare. */
const essential = ['services', 'endpointSlices'] as const;

export async function readWhatIfSnapshot(
  session: Session,
  world: World,
  manifests: readonly Manifest[],
): Promise<Snapshot> {
  const names = new Set(
    manifests.map(({ object }) => nameOf(object, object.metadata.namespace ?? session.namespace)),
  );
  // What manifests change is merged as server-side apply does, by who owns which field.
  const keepsWhole = (kind: SnapshotKind, object: KubeObject): boolean =>
    names.has(nameOf({ ...object, kind: snapshotKinds[kind].kind }, object.metadata.namespace));
  const reading = readSnapshot(session.caller, { signal: world.interrupted, kinds, keepsWhole });
  const all = await withProgress(world, 'Reading the objects of the cluster', reading);
  const refused = all.unread.filter(({ reason }) => reason !== 'not-served');
  const missing = refused.map(({ kind }) => kind).filter(isNamespaced);
  const found =
    missing.length === 0 ? all : await inOwnNamespace(all, missing, { session, world, keepsWhole });
  const unread = essential.find((kind) => !isRead(found, kind));
  if (unread === undefined) return found;
  const why = missingRightsText({
    ...found,
    unread: found.unread.filter((one) => one.kind === unread),
  });
  throw new UsageError(why[0] ?? `${unread} cannot be read`);
}

const nameOf = ({ kind, metadata }: KubeObject, namespace: string | undefined): string =>
  `${kind} ${(snapshotKindOf(kind)?.namespaced ?? true) ? `${namespace}/` : ''}${metadata.name}`;

const snapshotKindOf = (kind: string): AnyKind | undefined =>
  Object.values(snapshotKinds).find((one) => one.kind === kind) as AnyKind | undefined;

const isNamespaced = (kind: SnapshotKind): boolean =>
  snapshotKinds[kind].namespaced && kind !== 'configMaps';

type Own = {
  readonly session: Session;
  readonly world: World;
  readonly keepsWhole: (kind: SnapshotKind, object: KubeObject) => boolean;
};

/** For one of these, one namespace is better than all. */
const worthwhile: ReadonlySet<SnapshotKind> = new Set([...essential, 'pods']);

/** One namespace, as if there were no other: part of the lists of all would lead to wrong conclusions about the others. */
async function inOwnNamespace(
  all: Snapshot,
  missing: readonly SnapshotKind[],
  { session, world, keepsWhole }: Own,
): Promise<Snapshot> {
  const { namespace } = session;
  const namespaces = [namespace];
  const { caller } = session;
  const signal = world.interrupted;
  const own = await readSnapshot(caller, { signal, kinds: missing, namespaces, keepsWhole });
  if (!missing.some((kind) => worthwhile.has(kind) && isRead(own, kind))) return all;
  const rest = kinds.filter((kind) => !missing.includes(kind));
  const isInside = (kind: SnapshotKind, { metadata }: KubeObject): boolean =>
    !isNamespaced(kind) || metadata.namespace === namespace;
  const objects = Object.fromEntries([
    ...rest.map((kind) => [
      kind,
      all.objects[kind].filter((one: KubeObject) => isInside(kind, one)),
    ]),
    ...missing.map((kind) => [kind, own.objects[kind]]),
  ]) as Partial<SnapshotObjects>;
  const unread = [...all.unread.filter(({ kind }) => !missing.includes(kind)), ...own.unread];
  return makeSnapshot({ objects, unread, namespaces });
}
