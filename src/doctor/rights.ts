// The RBAC permissions of `fairlead doctor`: lists, and nothing that changes anything.
import { propagationResource } from '../kinds/part/propagation.ts';
import { may, type Right, type RightOptions } from '../kinds/rbac/rights.ts';
import { systemNamespace } from '../snapshot/cluster-settings.ts';
import { allSnapshotKinds, type SnapshotKind, snapshotKinds } from '../snapshot/snapshot.ts';

/** Other ConfigMaps are not read. */
const scopeOf = (kind: SnapshotKind): RightOptions =>
  kind === 'configMaps' ? { namespace: systemNamespace } : {};

const mayAll = (verb: string, more: RightOptions = {}): readonly Right[] =>
  allSnapshotKinds.map((kind) => may(verb, snapshotKinds[kind], { ...scopeOf(kind), ...more }));

export const doctorRights: readonly Right[] = [
  ...mayAll('list'),
  may('get', propagationResource),
  ...mayAll('watch', { onlyWith: '--watch' }),
];
