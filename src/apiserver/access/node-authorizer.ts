// What a node may do: its role, but of what belongs to single nodes only its own. Objects that pods use (secrets,
// config maps, tokens) are its own while such a pod is bound to it. Writes that are let through here are looked at
// once more by the admission plugin NodeRestriction, which knows the objects. Kubernetes:
// plugin/pkg/auth/authorizer/node.
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

type Asked = Extract<AccessAttributes, { kind: 'resource' }>;
type Question = { readonly asked: Asked; readonly node: string; readonly reader: ObjectReader };

const allowed: AccessDecision = { allowed: true, reason: '' };
const noOpinion: AccessDecision = { allowed: false, reason: '' };
const refuse = (reason: string): AccessDecision => ({ allowed: false, reason });

/** For users that are no node there is no opinion and nothing to say. */
export function authorizeNode(
  reader: ObjectReader,
  user: User,
  asked: AccessAttributes,
): AccessDecision {
  const node = nodeIdentity(user);
  if (node === undefined) return noOpinion;
  if (node === '') return refuse(`unknown node for user ${goQuote(user.name)}`);
  const own = asked.kind === 'resource' ? ownRules.get(resourceKey(asked)) : undefined;
  if (own !== undefined && asked.kind === 'resource') return own({ asked, node, reader });
  return nodeRules.some((rule) => ruleAllows(rule, asked)) ? allowed : noOpinion;
}

const resourceKey = ({ resource, group }: Asked): string =>
  group === '' ? resource : `${resource}.${group}`;

const ownRules: ReadonlyMap<string, (question: Question) => AccessDecision> = new Map([
  ['secrets', (question) => readUsed(question, ({ secrets }) => secrets)],
  ['configmaps', (question) => readUsed(question, ({ configMaps }) => configMaps)],
  ['persistentvolumeclaims', (question) => getUsed(question, ({ claims }) => claims)],
  ['serviceaccounts', serviceAccount],
  ['leases.coordination.k8s.io', lease],
  ['nodes', nodeObject],
  ['pods', pod],
  // Not served here; upstream ties these to the node as well, so the role alone must not open them.
  ['persistentvolumes', () => noOpinion],
  ['volumeattachments.storage.k8s.io', () => noOpinion],
  ['csinodes.storage.k8s.io', () => noOpinion],
  ['resourceslices.resource.k8s.io', () => noOpinion],
  ['resourceclaims.resource.k8s.io', () => noOpinion],
]);

const readVerbs = new Set(['get', 'list', 'watch']);

type Choose = (used: ReferencedObjects) => ReadonlySet<string>;

function readUsed(question: Question, choose: Choose): AccessDecision {
  const { verb, subresource, namespace } = question.asked;
  if (!readVerbs.has(verb)) return refuse('can only read resources of this type');
  if (subresource !== '') return refuse('cannot read subresource');
  if (namespace === '') return refuse('can only read namespaced object of this type');
  return related(question, (used, name) => choose(referencedObjects(used)).has(name));
}

function getUsed(question: Question, choose: Choose): AccessDecision {
  const { verb, subresource } = question.asked;
  if (verb !== 'get') return refuse('can only get individual resources of this type');
  if (subresource !== '') return refuse('cannot get subresource');
  return related(question, (used, name) => choose(referencedObjects(used)).has(name));
}

/** Whether a pod bound to the node uses the object asked for. */
function related(
  { asked, node, reader }: Question,
  uses: (pod: Pod, name: string) => boolean,
): AccessDecision {
  const { name, namespace } = asked;
  if (name === '') return refuse('No Object name found');
  const pods = reader.list('pods', namespace) as readonly Pod[];
  const isUsed = pods.some(
    // A mirror pod was made by the node itself: it must not open anything.
    (one) => one.spec.nodeName === node && !isMirrorPod(one) && uses(one, name),
  );
  return isUsed ? allowed : refuse(`no relationship found between node '${node}' and this object`);
}

function serviceAccount(question: Question): AccessDecision {
  const { verb, subresource, name } = question.asked;
  if (verb !== 'create' || name === '') {
    return refuse('can only create tokens for individual service accounts');
  }
  if (subresource !== 'token') return refuse('can only create token subresource of serviceaccount');
  return related(question, ({ spec }, account) => spec.serviceAccountName === account);
}

const leaseVerbs = new Set(['get', 'create', 'update', 'patch', 'delete']);

function lease({ asked, node }: Question): AccessDecision {
  const { verb, namespace, name } = asked;
  if (!leaseVerbs.has(verb)) {
    return refuse('can only get, create, update, patch, or delete a node lease');
  }
  if (namespace !== nodeLeaseNamespace) {
    return refuse(`can only access leases in the ${goQuote(nodeLeaseNamespace)} system namespace`);
  }
  // The name of what is to be created is known to admission only.
  return verb === 'create' || name === node
    ? allowed
    : refuse('can only access node lease with the same name as the requesting node');
}

const isWrite = (verb: string): boolean => verb === 'update' || verb === 'patch';

function nodeObject({ asked, node }: Question): AccessDecision {
  const { verb, subresource, name } = asked;
  if (subresource === 'status') return isWrite(verb) ? allowed : noOpinion;
  if (subresource !== '') return noOpinion;
  if (verb === 'create' || isWrite(verb)) return allowed;
  if (!readVerbs.has(verb)) return noOpinion;
  if (name === node) return allowed;
  return name === ''
    ? refuse(`node '${node}' cannot read all nodes, only its own Node object`)
    : refuse(`node '${node}' cannot read '${name}', only its own Node object`);
}

function pod(question: Question): AccessDecision {
  const { verb, subresource } = question.asked;
  switch (subresource) {
    case '':
      return podObject(question);
    case 'status':
      return isWrite(verb) ? allowed : noOpinion;
    case 'eviction':
      return verb === 'create' ? allowed : noOpinion;
    default:
      return noOpinion;
  }
}

function podObject({ asked, node, reader }: Question): AccessDecision {
  const { verb, namespace, name, fieldSelector = '' } = asked;
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

function selectsNode(text: string, node: string): boolean {
  const parsed = parseFieldSelector(text);
  if ('error' in parsed) return false;
  return parsed.selector.some(
    ({ field, operator, value }) => field === 'spec.nodeName' && operator === '=' && value === node,
  );
}
