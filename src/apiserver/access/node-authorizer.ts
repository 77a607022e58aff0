// The node authorizer: a node has the rights of its role, restricted to its own Node, Lease and pods, and to the objects
// (secrets, config maps, tokens) that pods bound to it use. The admission plugin NodeRestriction checks writes once more,
// with the objects. Kubernetes: plugin/pkg/auth/authorizer/node.

import { partsGroup } from '../../kinds/part/names.ts';
import { releaseResource } from '../../kinds/part/release.ts';
import { isOnNode, volumesOfNode } from '../../kinds/persistent-volume/local-directory.ts';
import type { PersistentVolume } from '../../kinds/persistent-volume/types.ts';
import { isMirrorPod } from '../../kinds/pod/mirror.ts';
import { type ReferencedObjects, referencedObjects } from '../../kinds/pod/referenced-objects.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { parseFieldSelector } from '../../meta/fields.ts';
import { goQuote } from '../../schema/go-quote.ts';
import type { ObjectReader } from '../cache/object-reader.ts';
import { nodeRules } from './bootstrap-part-roles.ts';
import { nodeIdentity, nodeLeaseNamespace } from './known-users.ts';
import { ruleAllows } from './rbac-rules.ts';
import type { AccessAttributes, AccessDecision, User } from './user.ts';

type ResourceAttributes = Extract<AccessAttributes, { kind: 'resource' }>;
type NodeRequest = {
  readonly attributes: ResourceAttributes;
  readonly node: string;
  readonly reader: ObjectReader;
};

const allowed: AccessDecision = { allowed: true, reason: '' };
const noOpinion: AccessDecision = { allowed: false, reason: '' };
const refuse = (reason: string): AccessDecision => ({ allowed: false, reason });

/** Has no opinion about users that are not nodes. */
export function authorizeNode(
  reader: ObjectReader,
  user: User,
  attributes: AccessAttributes,
): AccessDecision {
  const node = nodeIdentity(user);
  if (node === undefined) return noOpinion;
  if (node === '') return refuse(`unknown node for user ${goQuote(user.name)}`);
  const rule =
    attributes.kind === 'resource' ? nodeSpecificRules.get(resourceKey(attributes)) : undefined;
  if (rule !== undefined && attributes.kind === 'resource')
    return rule({ attributes, node, reader });
  return nodeRules.some((rule) => ruleAllows(rule, attributes)) ? allowed : noOpinion;
}

const resourceKey = ({ resource, group }: ResourceAttributes): string =>
  group === '' ? resource : `${resource}.${group}`;

const nodeSpecificRules: ReadonlyMap<string, (request: NodeRequest) => AccessDecision> = new Map([
  ['secrets', (request) => readReferenced(request, ({ secrets }) => secrets)],
  ['configmaps', (request) => readReferenced(request, ({ configMaps }) => configMaps)],
  ['persistentvolumeclaims', (request) => getReferenced(request, ({ claims }) => claims)],
  ['persistentvolumes', volume],
  ['serviceaccounts', serviceAccount],
  ['leases.coordination.k8s.io', lease],
  ['nodes', nodeObject],
  [`${releaseResource.plural}.${partsGroup}`, release],
  ['pods', pod],
  // Not served here; upstream restricts these to the node too, so the role alone must not allow them.
  ['volumeattachments.storage.k8s.io', () => noOpinion],
  ['csinodes.storage.k8s.io', () => noOpinion],
  ['resourceslices.resource.k8s.io', () => noOpinion],
  ['resourceclaims.resource.k8s.io', () => noOpinion],
]);

const readVerbs = new Set(['get', 'list', 'watch']);

type Choose = (used: ReferencedObjects) => ReadonlySet<string>;

function readReferenced(request: NodeRequest, choose: Choose): AccessDecision {
  const { verb, subresource, namespace } = request.attributes;
  if (!readVerbs.has(verb)) return refuse('can only read resources of this type');
  if (subresource !== '') return refuse('cannot read subresource');
  if (namespace === '') return refuse('can only read namespaced object of this type');
  return isReferenced(request, (used, name) => choose(referencedObjects(used)).has(name));
}

function getReferenced(request: NodeRequest, choose: Choose): AccessDecision {
  const { verb, subresource } = request.attributes;
  if (verb !== 'get') return refuse('can only get individual resources of this type');
  if (subresource !== '') return refuse('cannot get subresource');
  return isReferenced(request, (used, name) => choose(referencedObjects(used)).has(name));
}

/** Whether a pod bound to the node uses the requested object. */
function isReferenced(
  { attributes, node, reader }: NodeRequest,
  uses: (pod: Pod, name: string) => boolean,
): AccessDecision {
  const { name, namespace } = attributes;
  if (name === '') return refuse('No Object name found');
  const pods = reader.list('pods', namespace) as readonly Pod[];
  const isUsed = pods.some(
    // A mirror pod is created by the node itself: it must not give access to anything.
    (one) => one.spec.nodeName === node && !isMirrorPod(one) && uses(one, name),
  );
  return isUsed ? allowed : refuse(`no relationship found between node '${node}' and this object`);
}

/**
 * Volumes that its pods use, as upstream. In addition the directories that Fairlead made on the node: its agent follows
 * them by their label, and reports when one is deleted.
 */
function volume(request: NodeRequest): AccessDecision {
  const { attributes, node, reader } = request;
  const { verb, subresource, name, labelSelector = '' } = attributes;
  if (subresource !== '') return refuse('cannot get subresource');
  if (verb === 'list' || verb === 'watch') {
    return labelSelector === volumesOfNode(node)
      ? allowed
      : refuse('can only list/watch the volumes that are directories of the node');
  }
  const found = reader.get('persistentvolumes', '', name) as PersistentVolume | undefined;
  if (found !== undefined && verb === 'patch')
    return isOnNode(found, node) ? allowed : noRelation(node);
  if (verb !== 'get') return refuse('can only get individual resources of this type');
  const { namespace = '', name: claim = '' } = found?.spec.claimRef ?? {};
  if (claim === '') return noRelation(node);
  return getReferenced(
    { ...request, attributes: { ...attributes, namespace, name: claim } },
    ({ claims }) => claims,
  );
}

const noRelation = (node: string): AccessDecision =>
  refuse(`no relationship found between node '${node}' and this object`);

function serviceAccount(request: NodeRequest): AccessDecision {
  const { verb, subresource, name } = request.attributes;
  if (verb !== 'create' || name === '') {
    return refuse('can only create tokens for individual service accounts');
  }
  if (subresource !== 'token') return refuse('can only create token subresource of serviceaccount');
  return isReferenced(request, ({ spec }, account) => spec.serviceAccountName === account);
}

const leaseVerbs = new Set(['get', 'create', 'update', 'patch', 'delete']);

function lease({ attributes, node }: NodeRequest): AccessDecision {
  const { verb, namespace, name } = attributes;
  if (!leaseVerbs.has(verb)) {
    return refuse('can only get, create, update, patch, or delete a node lease');
  }
  if (namespace !== nodeLeaseNamespace) {
    return refuse(`can only access leases in the ${goQuote(nodeLeaseNamespace)} system namespace`);
  }
  // On create, only admission knows the name.
  return verb === 'create' || name === node
    ? allowed
    : refuse('can only access node lease with the same name as the requesting node');
}

const isWrite = (verb: string): boolean => verb === 'update' || verb === 'patch';

function nodeObject({ attributes, node }: NodeRequest): AccessDecision {
  const { verb, subresource, name } = attributes;
  if (subresource === 'status') return isWrite(verb) ? allowed : noOpinion;
  if (subresource !== '') return noOpinion;
  if (verb === 'create' || isWrite(verb)) return allowed;
  if (!readVerbs.has(verb)) return noOpinion;
  if (name === node) return allowed;
  return name === ''
    ? refuse(`node '${node}' cannot read all nodes, only its own Node object`)
    : refuse(`node '${node}' cannot read '${name}', only its own Node object`);
}

function pod(request: NodeRequest): AccessDecision {
  const { verb, subresource } = request.attributes;
  switch (subresource) {
    case '':
      return podObject(request);
    case 'status':
      return isWrite(verb) ? allowed : noOpinion;
    case 'eviction':
      return verb === 'create' ? allowed : noOpinion;
    default:
      return noOpinion;
  }
}

function podObject({ attributes, node, reader }: NodeRequest): AccessDecision {
  const { verb, namespace, name, fieldSelector = '' } = attributes;
  switch (verb) {
    case 'create':
    case 'delete':
      return allowed;
    case 'get': {
      if (name === '') return refuse('No Object name found');
      const found = reader.get('pods', namespace, name) as Pod | undefined;
      return found?.spec.nodeName === node
        ? allowed
        : refuse(`no relationship found between node '${node}' and this object`);
    }
    case 'list':
    case 'watch':
      return selectsNode(fieldSelector, node)
        ? allowed
        : refuse('can only list/watch pods with spec.nodeName field selector');
    default:
      return noOpinion;
  }
}

/** Whether proxies still forward to a pod is for its node to know. */
function release(request: NodeRequest): AccessDecision {
  const { verb, subresource } = request.attributes;
  return verb === 'get' && subresource === '' ? podObject(request) : noOpinion;
}

function selectsNode(text: string, node: string): boolean {
  const parsed = parseFieldSelector(text);
  if ('error' in parsed) return false;
  return parsed.selector.some(
    ({ field, operator, value }) => field === 'spec.nodeName' && operator === '=' && value === node,
  );
}
