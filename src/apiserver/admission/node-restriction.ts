// Restricts the writes of a node to its own Node and Lease, the status of pods bound to it, mirror pods, and tokens for
// pods bound to it. Kubernetes: plugin/pkg/admission/noderestriction.
import { directoryFinalizer, isOnNode } from '../../kinds/persistent-volume/local-directory.ts';
import type { PersistentVolume } from '../../kinds/persistent-volume/types.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { ApiError } from '../../meta/api-error.ts';
import { notFound } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import { deepEqual } from '../../schema/equality.ts';
import { goQuote } from '../../schema/go-quote.ts';
import { nodeIdentity, nodeLeaseNamespace } from '../access/known-users.ts';
import type { ObjectReader } from '../cache/object-reader.ts';
import type { BoundObjectReference, TokenRequest } from '../tokens/token-request-schema.ts';
import { type AdmissionPlugin, type AdmissionRequest, isResource, refused } from './admission.ts';
import { mirrorPodProblem } from './mirror-pod.ts';
import { nodeAddressProblem } from './node-addresses.ts';
import { certificateRequestProblem } from './node-certificate-request.ts';
import { nodeObjectProblem } from './node-object.ts';

export const nodeRestriction: AdmissionPlugin = {
  name: 'NodeRestriction',
  onByDefault: true,
  mutate(request, { reader }) {
    const { definition, user } = request;
    const node = nodeIdentity(user);
    if (node === undefined) return undefined;
    const problem =
      node === ''
        ? `could not determine node from user ${goQuote(user.name)}`
        : restrictions[`${definition.plural}.${definition.group}`]?.({ request, node, reader });
    if (problem !== undefined) throw refused(request, problem);
    return undefined;
  },
  /** Checks the object to be written, without the fields that the endpoint ignores. */
  validate(request, { reader, addresses }) {
    const node = nodeIdentity(request.user);
    if (node === undefined || !isResource(request, '', 'nodes')) return;
    const problem = nodeAddressProblem({ request, node, reader, addresses });
    if (problem !== undefined) throw refused(request, problem);
  },
};

type Facts = {
  readonly request: AdmissionRequest;
  readonly node: string;
  readonly reader: ObjectReader;
};
/** Why the write is refused; throws errors that do not concern the node. */
type Restriction = (facts: Facts) => string | undefined;

const restrictions: Readonly<Record<string, Restriction>> = {
  'pods.': restrictPods,
  'nodes.': restrictNodes,
  'serviceaccounts.': restrictTokens,
  'persistentvolumes.': restrictVolumes,
  'leases.coordination.k8s.io': restrictLeases,
  'certificatesigningrequests.certificates.k8s.io': ({ request, node }) =>
    certificateRequestProblem(request, node),
};

/** Of a volume that is deleted, a node may say that its directory is gone. */
function restrictVolumes({ request, node }: Facts): string | undefined {
  const { operation, before, after, subresource } = request;
  const isRemoval =
    operation === 'update' &&
    subresource === '' &&
    before?.metadata.deletionTimestamp !== undefined &&
    after !== undefined &&
    isOnNode(before as PersistentVolume, node) &&
    deepEqual(withoutDirectory(before), withoutDirectory(after));
  return isRemoval
    ? undefined
    : `node ${goQuote(node)} may only remove the finalizer ${directoryFinalizer} of its volumes`;
}

function withoutDirectory(object: KubeObject): unknown {
  const { managedFields: _fields, resourceVersion: _version, ...metadata } = object.metadata;
  const finalizers = (metadata.finalizers ?? []).filter((one) => one !== directoryFinalizer);
  return { ...object, metadata: { ...metadata, finalizers } };
}

function restrictPods(facts: Facts): string | undefined {
  const { subresource } = facts.request;
  switch (subresource) {
    case '':
      return restrictPod(facts);
    case 'status':
      return restrictPodStatus(facts);
    case 'eviction': {
      const { node } = facts;
      return boundTo(facts, `node ${node} can only evict pods with spec.nodeName set to itself`);
    }
    default:
      return `unexpected pod subresource ${goQuote(subresource)}, only 'status' and 'eviction' are allowed`;
  }
}

function restrictPod(facts: Facts): string | undefined {
  const { request, node, reader } = facts;
  const { operation, after } = request;
  switch (operation) {
    case 'create':
      return mirrorPodProblem(after as Pod, node, reader);
    case 'delete':
      return boundTo(
        facts,
        `node ${goQuote(node)} can only delete pods with spec.nodeName set to itself`,
      );
    case 'update':
      return `unexpected operation "UPDATE", node ${goQuote(node)} can only create and delete mirror pods`;
  }
}

/** Undefined when the requested pod is bound to the node, else the message. */
function boundTo({ request, node, reader }: Facts, otherwise: string): string | undefined {
  const found = livePod(reader, request.namespace, request.name);
  return found.spec.nodeName === node ? undefined : otherwise;
}

function livePod(reader: ObjectReader, namespace: string, name: string): Pod {
  const found = reader.get('pods', namespace, name) as Pod | undefined;
  if (found === undefined) throw missing('pods', name);
  return found;
}

function missing(resource: string, name: string): ApiError {
  return notFound({ group: '', resource }, name);
}

function restrictPodStatus({ request, node }: Facts): string | undefined {
  const after = request.after as Pod | undefined;
  const before = request.before as Pod | undefined;
  if (before?.spec.nodeName !== node) {
    return `node ${goQuote(node)} can only update pod status for pods with spec.nodeName set to itself`;
  }
  if (!deepEqual(before.metadata.labels ?? {}, after?.metadata.labels ?? {})) {
    return `node ${goQuote(node)} cannot update labels through pod status`;
  }
  const { resourceClaimStatuses: claims = [], extendedResourceClaimStatus: extended } =
    before.status;
  // The claims of a pod determine what else its node may read. The spelling is upstream's.
  if (!deepEqual(claims, after?.status.resourceClaimStatuses ?? [])) {
    return `node ${goQuote(node)} cannot update resource claim statues`;
  }
  return deepEqual(extended, after?.status.extendedResourceClaimStatus)
    ? undefined
    : `node ${goQuote(node)} cannot update extended resource claim status`;
}

function restrictNodes({ request, node }: Facts): string | undefined {
  const name = request.name || (request.after?.metadata.name ?? '');
  return name === node
    ? nodeObjectProblem(request, node)
    : `node ${goQuote(node)} is not allowed to modify node ${goQuote(name)}`;
}

function restrictLeases({ request, node }: Facts): string | undefined {
  const { namespace, name } = request;
  if (namespace !== nodeLeaseNamespace) {
    return `can only access leases in the ${goQuote(nodeLeaseNamespace)} system namespace`;
  }
  return name === node
    ? undefined
    : 'can only access node lease with the same name as the requesting node';
}

function restrictTokens({ request, node, reader }: Facts): string | undefined {
  const { operation, subresource, namespace, after } = request;
  if (operation !== 'create' || subresource !== 'token') return undefined;
  const { boundObjectRef, audiences } = (after as TokenRequest).spec;
  if (!isPod(boundObjectRef)) return 'node requested token not bound to a pod';
  const { name, uid } = boundObjectRef;
  if (uid === undefined) return 'node requested token with a pod binding without a uid';
  const pod = livePod(reader, namespace, name);
  if (pod.metadata.uid !== uid) {
    return `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
  }
  if (pod.spec.nodeName !== node) {
    return 'node requested token bound to a pod scheduled on a different node';
  }
  return audienceProblem(pod, audiences ?? [], request.user.name);
}

function isPod(
  ref: BoundObjectReference | undefined,
): ref is BoundObjectReference & { readonly name: string } {
  return ref?.apiVersion === 'v1' && ref.kind === 'Pod' && ref.name !== undefined;
}

/** A node gets tokens only for audiences of the pod's token volumes. */
function audienceProblem(pod: Pod, audiences: readonly string[], user: string): string | undefined {
  if (audiences.length > 1) return 'node may only request 0 or 1 audiences';
  const [wanted = ''] = audiences;
  const volumes = (pod.spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
  const isMounted = volumes.some(
    ({ serviceAccountToken }) =>
      serviceAccountToken !== undefined && (serviceAccountToken.audience ?? '') === wanted,
  );
  return isMounted
    ? undefined
    : `audience ${goQuote(wanted)} not found in pod spec volume, ${user} is not authorized to request tokens for this audience`;
}
