// Unaggregated discovery: one document for each group and version.
import { createHash } from 'node:crypto';
import { groupVersion } from '../../meta/object.ts';
import type { ServedGroup, ServedKind, ServedVersion } from './served-kind.ts';

/** `/api`: versions of the core group, and where clients reach the server. */
export function apiVersions(core: ServedGroup, serverAddress: string): object {
  return {
    kind: 'APIVersions',
    versions: core.versions.map(({ version }) => version),
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

/** `/apis`: all groups but the core one. */
export function apiGroupList(groups: readonly ServedGroup[]): object {
  const named = groups.filter(({ group }) => group !== '');
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: named.map(describeGroup) };
}

/** `/apis/<group>` */
export function apiGroup(group: ServedGroup): object {
  return { kind: 'APIGroup', apiVersion: 'v1', ...describeGroup(group) };
}

/** `/api/v1` and `/apis/<group>/<version>`; the core list has never had an apiVersion. */
export function apiResourceList({ group }: ServedGroup, { version, kinds }: ServedVersion): object {
  return {
    kind: 'APIResourceList',
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: groupVersion(group, version),
    resources: kinds.flatMap(describeKind),
  };
}

function describeGroup({ group, versions }: ServedGroup) {
  const all = versions.map(({ version }) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions: all, preferredVersion: all[0] };
}

function describeKind(kind: ServedKind): readonly object[] {
  const { namespaced, shortNames, categories } = kind;
  const main = {
    name: kind.plural,
    singularName: kind.singular,
    namespaced,
    kind: kind.kind,
    verbs: kind.verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(kind.stored ? { storageVersionHash: storageVersionHash(kind) } : {}),
  };
  const subresources = kind.subresources.map(({ name, group, version, kind: spoken, verbs }) => ({
    name: `${kind.plural}/${name}`,
    singularName: '',
    namespaced,
    ...(group === kind.group && version === kind.version ? {} : { group, version }),
    kind: spoken,
    verbs,
  }));
  return [main, ...subresources];
}

/** Tells clients whether stored objects must be migrated; equal to upstream's for the same version. */
function storageVersionHash({ group, version, kind }: ServedKind): string {
  const digest = createHash('sha256').update(`${group}/${version}/${kind}`).digest();
  return digest.subarray(0, 8).toString('base64');
}
