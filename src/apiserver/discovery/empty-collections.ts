// Collections that clients list on their own and that are always empty here. A client takes a missing one for a
// broken server: `kubectl apply --prune` and `kubectl cluster-info dump` then end with an error.
import type { AnyKind, Verb } from '../../kinds/definition.ts';
import { ageColumn, nameColumn } from '../../kinds/metadata-columns.ts';
import { type ApiError, failure, notFound } from '../../meta/api-error.ts';
import { groupResource, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { createResourceCache } from '../cache/resource-cache.ts';
import { pathKey, type Resource } from '../cache/resources.ts';
import { createCodec } from '../cache/stored-object.ts';
import { adviceFor } from './empty-advice.ts';

const readVerbs: readonly Verb[] = ['get', 'list', 'watch'];
const nothingWrong = (): readonly [] => [];

type Names = {
  readonly plural: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly isClusterWide?: boolean;
};

function emptyKind(group: string, version: string, kind: string, names: Names): AnyKind {
  const { plural, shortNames, categories, isClusterWide = false } = names;
  return {
    ...{ group, version, kind, plural, singular: kind.toLowerCase(), verbs: readVerbs },
    ...(shortNames === undefined ? {} : { shortNames }),
    ...(categories === undefined ? {} : { categories }),
    namespaced: !isClusterWide,
    schema: s.struct(kind, objectFields, { numbers: [0, 0, 1] }),
    // Nothing is ever written.
    nameRule: nothingWrong,
    create: { validateCreate: nothingWrong },
    update: { validateUpdate: nothingWrong },
    columns: [nameColumn, ageColumn],
    fieldSelectorError: 'known',
  };
}

const ofGroup =
  (group: string, version: string) =>
  (kind: string, names: Names): AnyKind =>
    emptyKind(group, version, kind, names);

const storage = ofGroup('storage.k8s.io', 'v1');
const dynamicResources = ofGroup('resource.k8s.io', 'v1');
const workload = { categories: ['all'] };
const clusterWide = { isClusterWide: true };

/** What the informers of kube-scheduler and kube-controller-manager list and watch: both wait until they have all of it. */
const listedByParts: readonly AnyKind[] = [
  ofGroup('autoscaling', 'v2')('HorizontalPodAutoscaler', {
    plural: 'horizontalpodautoscalers',
    shortNames: ['hpa'],
    ...workload,
  }),
  ofGroup('node.k8s.io', 'v1')('RuntimeClass', { plural: 'runtimeclasses', ...clusterWide }),
  ofGroup('admissionregistration.k8s.io', 'v1')('ValidatingAdmissionPolicy', {
    plural: 'validatingadmissionpolicies',
    categories: ['api-extensions'],
    ...clusterWide,
  }),
  storage('CSIDriver', { plural: 'csidrivers', ...clusterWide }),
  storage('CSINode', { plural: 'csinodes', ...clusterWide }),
  storage('CSIStorageCapacity', { plural: 'csistoragecapacities' }),
  storage('VolumeAttachment', { plural: 'volumeattachments', ...clusterWide }),
  storage('VolumeAttributesClass', {
    plural: 'volumeattributesclasses',
    shortNames: ['vac'],
    ...clusterWide,
  }),
  dynamicResources('DeviceClass', { plural: 'deviceclasses', ...clusterWide }),
  dynamicResources('ResourceClaim', { plural: 'resourceclaims' }),
  dynamicResources('ResourceClaimTemplate', { plural: 'resourceclaimtemplates' }),
  dynamicResources('ResourceSlice', { plural: 'resourceslices', ...clusterWide }),
];

/** Manifests of applications bring them along. */
const networkPolicy = ofGroup('networking.k8s.io', 'v1')('NetworkPolicy', {
  plural: 'networkpolicies',
  shortNames: ['netpol'],
});

/** Listed in discovery: kinds that pruning lists, that users expect in a namespace, and that other components wait for. */
export const listedCollections: readonly AnyKind[] = [networkPolicy, ...listedByParts];

/** kubectl lists custom resource definitions for a kind that it does not know. */
const customResource = ofGroup('apiextensions.k8s.io', 'v1')('CustomResourceDefinition', {
  plural: 'customresourcedefinitions',
  ...clusterWide,
});

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

/** The error of a write: nothing to delete, or the collection is read-only. kubectl prints reason and message. */
export function refusedWrite(
  { group, plural }: AnyKind,
  { verb, name }: { readonly verb: string; readonly name: string },
): ApiError {
  if (verb === 'delete') return notFound({ group, resource: plural }, name);
  const resource = groupResource(group, plural);
  const message = `${resource} cannot be stored here: this server has none and takes none. ${adviceFor(resource)}.`;
  return failure({
    code: 501,
    reason: 'NotImplemented',
    message,
    details: { ...(group === '' ? {} : { group }), kind: plural },
  });
}

export const isRead = (verb: string): boolean => readVerbs.some((one) => one === verb);
