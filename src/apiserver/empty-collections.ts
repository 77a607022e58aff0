// Collections that clients look into by themselves and that are always empty here. A client takes a missing one for a
// broken server: `kubectl apply --prune` and `kubectl cluster-info dump` then end with an error.
import type { AnyKind, Verb } from '../kinds/definition.ts';
import { ageColumn, nameColumn } from '../kinds/metadata-columns.ts';
import { type ApiError, failure, notFound } from '../meta/api-error.ts';
import { groupResource, objectFields } from '../meta/object.ts';
import * as s from '../schema/node.ts';
import { createResourceCache } from './resource-cache.ts';
import { pathKey, type Resource } from './resources.ts';
import { createCodec } from './stored-object.ts';

type Names = Pick<AnyKind, 'kind' | 'plural' | 'singular' | 'shortNames' | 'categories'>;

const readVerbs: readonly Verb[] = ['get', 'list', 'watch'];
const nothingWrong = (): readonly [] => [];

function emptyKind(
  [group, version]: readonly [string, string],
  names: Names,
  namespaced = true,
): AnyKind {
  return {
    ...{ group, version, ...names, namespaced, verbs: readVerbs },
    schema: s.struct(names.kind, objectFields, { numbers: [0, 0, 1] }),
    // Nothing is ever written.
    nameRule: nothingWrong,
    create: { validateCreate: nothingWrong },
    update: { validateUpdate: nothingWrong },
    columns: [nameColumn, ageColumn],
    fieldSelectorError: 'known',
  };
}

const core = ['', 'v1'] as const;
const apps = ['apps', 'v1'] as const;
const batch = ['batch', 'v1'] as const;
const workload = { categories: ['all'] };

/** Told by discovery: what pruning goes through, and what people expect of a namespace. */
export const listedCollections: readonly AnyKind[] = [
  // Asked for by `kubectl describe namespace`.
  emptyKind(core, {
    kind: 'LimitRange',
    plural: 'limitranges',
    singular: 'limitrange',
    shortNames: ['limits'],
  }),
  emptyKind(core, {
    kind: 'ResourceQuota',
    plural: 'resourcequotas',
    singular: 'resourcequota',
    shortNames: ['quota'],
  }),
  emptyKind(core, {
    kind: 'PersistentVolumeClaim',
    plural: 'persistentvolumeclaims',
    singular: 'persistentvolumeclaim',
    shortNames: ['pvc'],
  }),
  emptyKind(
    core,
    {
      kind: 'PersistentVolume',
      plural: 'persistentvolumes',
      singular: 'persistentvolume',
      shortNames: ['pv'],
    },
    false,
  ),
  emptyKind(apps, {
    kind: 'DaemonSet',
    plural: 'daemonsets',
    singular: 'daemonset',
    shortNames: ['ds'],
    ...workload,
  }),
  emptyKind(apps, {
    kind: 'StatefulSet',
    plural: 'statefulsets',
    singular: 'statefulset',
    shortNames: ['sts'],
    ...workload,
  }),
  emptyKind(batch, {
    kind: 'CronJob',
    plural: 'cronjobs',
    singular: 'cronjob',
    shortNames: ['cj'],
    ...workload,
  }),
  emptyKind(batch, { kind: 'Job', plural: 'jobs', singular: 'job', ...workload }),
];

/** kubectl asks whether a kind that it does not know is a custom one. */
const customResource = emptyKind(
  ['apiextensions.k8s.io', 'v1'],
  {
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    singular: 'customresourcedefinition',
  },
  false,
);

export type FindEmpty = (group: string, version: string, plural: string) => Resource | undefined;

/** They are answered as any other resource is, out of caches that nothing ever enters. */
export function createEmptyResources(): FindEmpty {
  const byPath = new Map(
    [...listedCollections, customResource].map((kind) => [pathKey(kind), emptyResource(kind)]),
  );
  return (group, version, plural) => byPath.get(pathKey({ group, version, plural }));
}

function emptyResource(definition: AnyKind): Resource {
  const codec = createCodec(definition);
  return { definition, codec, cache: createResourceCache(), view: (cached) => cached };
}

/** What a write is told: of an object that it cannot be there, of a collection that it stays empty. */
export function refusedWrite({ group, plural }: AnyKind, name: string): ApiError {
  if (name !== '') return notFound({ group, resource: plural }, name);
  const message = `this server has no ${groupResource(group, plural)} and takes none`;
  return failure({ code: 405, reason: 'MethodNotAllowed', message, details: {} });
}

export const isRead = (verb: string): boolean => readVerbs.some((one) => one === verb);
