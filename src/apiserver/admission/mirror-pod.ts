// The pods that a node may create: mirror pods of its static pods, owned by the node, without references to other objects.
import { isMirrorPod, mirrorAnnotation } from '../../kinds/pod/mirror.ts';
import { referencedObjects } from '../../kinds/pod/referenced-objects.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { notFound } from '../../meta/api-error.ts';
import type { OwnerReference } from '../../meta/object.ts';
import { goQuote } from '../../schema/go-quote.ts';
import type { ObjectReader } from '../cache/object-reader.ts';

export function mirrorPodProblem(pod: Pod, node: string, reader: ObjectReader): string | undefined {
  const who = `node ${goQuote(node)}`;
  if (!isMirrorPod(pod)) {
    return `pod does not have ${goQuote(mirrorAnnotation)} annotation, ${who} can only create mirror pods`;
  }
  if (pod.spec.nodeName !== node) {
    return `${who} can only create pods with spec.nodeName set to itself`;
  }
  const [owner, ...others] = pod.metadata.ownerReferences ?? [];
  if (others.length > 0) {
    return `${who} can only create pods with a single owner reference set to itself`;
  }
  return ownerProblem(owner, node, reader) ?? referenceProblem(pod, who);
}

function ownerProblem(
  owner: OwnerReference | undefined,
  node: string,
  reader: ObjectReader,
): string | undefined {
  const who = `node ${goQuote(node)}`;
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    return `${who} can only create pods with an owner reference set to itself`;
  }
  if (owner.controller !== true) {
    return `${who} can only create pods with a controller owner reference set to itself`;
  }
  if (owner.blockOwnerDeletion === true) {
    return `${who} must not set blockOwnerDeletion on an owner reference`;
  }
  const found = reader.get('nodes', '', node);
  if (found === undefined) throw notFound({ group: '', resource: 'nodes' }, node);
  const { uid = '' } = found.metadata;
  return owner.uid === uid
    ? undefined
    : `node ${node} UID mismatch: expected ${owner.uid} got ${uid}`;
}

function referenceProblem(pod: Pod, who: string): string | undefined {
  const { secrets, configMaps, claims } = referencedObjects(pod);
  const projections = (pod.spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
  const used: readonly (readonly [string, boolean])[] = [
    ['a service account', Boolean(pod.spec.serviceAccountName)],
    ['secrets', secrets.size > 0],
    ['configmaps', configMaps.size > 0],
    ['clustertrustbundles', projections.some(({ clusterTrustBundle }) => clusterTrustBundle)],
    ['persistentvolumeclaims', claims.size > 0],
    ['resourceclaims', (pod.spec.resourceClaims ?? []).length > 0],
  ];
  const [first] = used.find(([, isUsed]) => isUsed) ?? [];
  return first === undefined ? undefined : `${who} can not create pods that reference ${first}`;
}
