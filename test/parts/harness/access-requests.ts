// Every verb of every resource as a request that is harmless when it is let through: dry runs on objects that are
// mostly not there. What matters is only whether the server says that it is forbidden.
import { reviewKinds } from '../../../src/apiserver/reviews/all.ts';
import { allKinds } from '../../../src/kinds/all.ts';
import { type AnyKind, allVerbs } from '../../../src/kinds/definition.ts';
import type { ApiCall } from './api-client.ts';

export type AccessRequest = {
  readonly verb: string;
  readonly group: string;
  /** With its subresource: `pods/status`. */
  readonly resource: string;
  /** Empty at the cluster scope. */
  readonly namespace: string;
  /** Empty for collections. */
  readonly name: string;
  readonly call: ApiCall;
};

/** Where the roles of the test are bound. */
export const home = 'home';
export const other = 'other';

/** Objects that belong to one node or the other; of all others one name will do. */
const paths: Readonly<Record<string, readonly string[]>> = {
  nodes: ['/n1', '/n2'],
  pods: [`${home}/of-n1`, `${home}/of-n2`, `${other}/x`],
  secrets: [`${home}/of-n1`, `${home}/of-n2`, `${other}/of-n1`],
  configmaps: [`${home}/of-n1`, `${home}/of-n2`, `${other}/of-n1`],
  serviceaccounts: [`${home}/of-n1`, `${home}/of-n2`, `${other}/x`],
  leases: [`${home}/x`, `${other}/x`, 'kube-node-lease/n1', 'kube-node-lease/n2'],
  namespaces: [`/${home}`, `/${other}`],
};

export function allAccessRequests(): readonly AccessRequest[] {
  return [...allKinds.flatMap(requestsOf), ...virtualRequests()];
}

function requestsOf(kind: AnyKind): readonly AccessRequest[] {
  const usual = kind.namespaced ? [`${home}/x`, `${other}/x`] : ['/x'];
  const targets = paths[kind.plural] ?? usual;
  const namespaces = new Set(targets.map((target) => target.split('/')[0] ?? ''));
  const verbs: readonly string[] = kind.verbs ?? allVerbs;
  const everywhere = kind.namespaced
    ? ['list', 'watch'].map((verb) => collectionRequest(kind, verb, ''))
    : [];
  return [
    ...targets.flatMap((target) => objectRequests(kind, target)),
    ...[...namespaces].flatMap((namespace) =>
      ['list', 'watch', 'deletecollection'].map((verb) => collectionRequest(kind, verb, namespace)),
    ),
    ...everywhere,
  ].filter(({ verb, resource }) => resource.includes('/') || verbs.includes(verb));
}

const dry = 'dryRun=All';
const methods: Readonly<Record<string, string>> = {
  create: 'POST',
  get: 'GET',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
};

function objectRequests(kind: AnyKind, target: string): readonly AccessRequest[] {
  const [inNamespace = '', name = ''] = target.split('/');
  const collection = collectionPath(kind, inNamespace);
  // A namespace is inside itself, for access control.
  const namespace = kind.plural === 'namespaces' ? name : inNamespace;
  const about = { group: kind.group, namespace, name };
  const own = ['get', 'update', 'patch', 'delete'].map((verb) => ({
    ...about,
    verb,
    resource: kind.plural,
    call: callFor(verb, `${collection}/${name}`, name),
  }));
  const below = (kind.subresources ?? []).flatMap((sub) =>
    sub.verbs.map((verb) => ({
      ...about,
      verb,
      resource: `${kind.plural}/${sub.name}`,
      call: callFor(verb, `${collection}/${name}/${sub.name}`, name),
    })),
  );
  const create = {
    ...about,
    // Who creates a namespace is not inside it yet.
    namespace: inNamespace,
    verb: 'create',
    resource: kind.plural,
    call: callFor('create', collection, name),
  };
  return [create, ...own, ...below];
}

function callFor(verb: string, path: string, name: string): ApiCall {
  const method = methods[verb] ?? '';
  if (verb === 'get') return { method, path };
  const call = { method, path: `${path}?${dry}` };
  if (verb === 'delete') return call;
  const headers = verb === 'patch' ? { 'content-type': 'application/merge-patch+json' } : {};
  return { ...call, headers, body: verb === 'patch' ? {} : { metadata: { name } } };
}

function collectionRequest(kind: AnyKind, verb: string, namespace: string): AccessRequest {
  const path = collectionPath(kind, namespace);
  const calls: Readonly<Record<string, ApiCall>> = {
    list: { method: 'GET', path },
    // Invalid for those who may watch, so that no stream stays open.
    watch: { method: 'GET', path: `${path}?watch=1&resourceVersion=x` },
    deletecollection: { method: 'DELETE', path: `${path}?${dry}` },
  };
  const call = calls[verb] ?? { method: 'GET', path };
  return { verb, group: kind.group, resource: kind.plural, namespace, name: '', call };
}

function collectionPath(
  { group, version, plural }: Pick<AnyKind, 'group' | 'version' | 'plural'>,
  namespace: string,
): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return namespace === '' ? `${root}/${plural}` : `${root}/namespaces/${namespace}/${plural}`;
}

/** Kinds that can only be posted. */
function virtualRequests(): readonly AccessRequest[] {
  const binding = { group: '', version: 'v1', plural: 'bindings', namespaced: true };
  return [binding, ...reviewKinds].flatMap((kind) =>
    (kind.namespaced ? [home, other] : ['']).map((namespace) => ({
      verb: 'create',
      group: kind.group,
      resource: kind.plural,
      namespace,
      name: '',
      call: { method: 'POST', path: collectionPath(kind, namespace), body: {} },
    })),
  );
}

export function describeRequest(request: AccessRequest): string {
  const { verb, group, resource, namespace, name } = request;
  const where = namespace === '' ? '' : ` in ${namespace}`;
  return `${verb} ${resource}${group === '' ? '' : `.${group}`} ${name}${where}`;
}
