// The paths of a kind with their operations, in OpenAPI v3 form.
import type { Verb } from '../../kinds/definition.ts';
import type { ServedKind } from '../discovery/served-kind.ts';
import { type Json, refTo } from './components.ts';
import { connectOperations, connectParameters, isConnected } from './connect-paths.ts';
import { metaPackage } from './meta-types.ts';
import {
  deleteCollectionParameters,
  deleteParameters,
  listParameters,
  nameParameter,
  namespaceParameter,
  patchParameters,
  pretty,
  writeParameters,
} from './parameters.ts';

/** The component of a kind, where this server describes it. */
export type FindComponent = (group: string, version: string, kind: string) => string | undefined;

export type Paths = Record<string, Record<string, unknown>>;

/** What an operation is about: its kind, and the words of its identifier. */
type OperationTarget = {
  readonly kind: ServedKind;
  readonly spoken: { readonly group: string; readonly version: string; readonly kind: string };
  readonly component: string | undefined;
  readonly listComponent: string;
  /** After the verb in operation identifiers: `NamespacedServiceStatus`. */
  readonly subject: string;
};

export function addPaths(paths: Paths, kind: ServedKind, find: FindComponent): void {
  const { group, version, plural, namespaced, verbs } = kind;
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const collection = namespaced ? `${root}/namespaces/{namespace}/${plural}` : `${root}/${plural}`;
  const target = targetOf(kind, find, kind, '');
  const shared = namespaced ? [namespaceParameter] : [];

  add(paths, collection, shared, collectionOperations(target, verbs));
  add(
    paths,
    `${collection}/{name}`,
    [nameParameter, ...shared],
    objectOperations(target, objectVerbs(kind)),
  );
  if (namespaced && verbs.includes('list')) {
    const everywhere = { ...target, subject: `${kind.kind}ForAllNamespaces` };
    add(paths, `${root}/${plural}`, [], { get: operation('list', everywhere) });
  }
  for (const sub of kind.subresources) {
    if (isConnected(sub.name)) {
      addConnected(paths, `${collection}/{name}/${sub.name}`, {
        sub,
        target: targetOf(kind, find, sub, capital(sub.name)),
        shared: [nameParameter, ...shared],
      });
      continue;
    }
    const operations = subresourceOperations(
      targetOf(kind, find, sub, capital(sub.name)),
      sub.verbs,
    );
    add(paths, `${collection}/{name}/${sub.name}`, [nameParameter, ...shared], operations);
  }
}

/**
 * kubectl sends an object to be judged by the server where PATCH takes `fieldValidation`, and judges it by the schema elsewhere. The
 * schema of a collection that is always empty has no fields, and only the server can say that it takes none.
 */
function objectVerbs({ verbs, stored }: ServedKind): readonly Verb[] {
  return stored && !verbs.includes('patch') ? [...verbs, 'patch'] : verbs;
}

type Connected = {
  readonly sub: ServedKind['subresources'][number];
  readonly target: OperationTarget;
  readonly shared: readonly Json[];
};

function addConnected(paths: Paths, path: string, { sub, target, shared }: Connected): void {
  const { group, version } = target.kind;
  const isProxy = sub.name === 'proxy';
  const words = { tag: tagOf(target), groupWords: `${groupWord(group)}${capital(version)}` };
  const operations = (subject: string) =>
    connectOperations({ ...words, subject, spoken: target.spoken }, sub.verbs, isProxy);
  const { own, behind } = connectParameters;
  paths[path] = {
    ...operations(target.subject),
    parameters: [...shared, ...(isProxy ? own : [])],
  };
  if (!isProxy) return;
  paths[`${path}/{path}`] = {
    ...operations(`${target.subject}WithPath`),
    parameters: [...shared, ...behind, ...own],
  };
}

function targetOf(
  kind: ServedKind,
  find: FindComponent,
  spoken: OperationTarget['spoken'],
  suffix: string,
): OperationTarget {
  const { group, version, kind: name } = spoken;
  const component = find(group, version, name);
  const listComponent = `${find(kind.group, kind.version, kind.kind) ?? ''}List`;
  const subject = `${kind.namespaced ? 'Namespaced' : ''}${kind.kind}${suffix}`;
  return { kind, spoken: { group, version, kind: name }, component, listComponent, subject };
}

function add(paths: Paths, path: string, shared: readonly Json[], operations: Operations): void {
  if (Object.keys(operations).length === 0) return;
  paths[path] = { ...operations, parameters: [...shared, pretty] };
}

type Operations = Readonly<Record<string, Json>>;

function collectionOperations(target: OperationTarget, verbs: readonly Verb[]): Operations {
  return {
    ...(verbs.includes('list') ? { get: operation('list', target) } : {}),
    ...(verbs.includes('create') ? { post: operation('post', target) } : {}),
    ...(verbs.includes('deletecollection')
      ? { delete: operation('deletecollection', target) }
      : {}),
  };
}

function objectOperations(target: OperationTarget, verbs: readonly Verb[]): Operations {
  return {
    ...(verbs.includes('get') ? { get: operation('get', target) } : {}),
    ...(verbs.includes('update') ? { put: operation('put', target) } : {}),
    ...(verbs.includes('delete') ? { delete: operation('delete', target) } : {}),
    ...(verbs.includes('patch') ? { patch: operation('patch', target) } : {}),
  };
}

function subresourceOperations(target: OperationTarget, verbs: readonly Verb[]): Operations {
  const post = verbs.includes('create') ? { post: operation('post', target) } : {};
  return { ...objectOperations(target, verbs), ...post };
}

type Action = 'list' | 'get' | 'post' | 'put' | 'patch' | 'delete' | 'deletecollection';

const words: Readonly<
  Record<Action, { id: string; parameters: readonly Json[]; codes: string[] }>
> = {
  list: { id: 'list', parameters: listParameters, codes: ['200'] },
  get: { id: 'read', parameters: [], codes: ['200'] },
  post: { id: 'create', parameters: writeParameters, codes: ['200', '201', '202'] },
  put: { id: 'replace', parameters: writeParameters, codes: ['200', '201'] },
  patch: { id: 'patch', parameters: patchParameters, codes: ['200', '201'] },
  delete: { id: 'delete', parameters: deleteParameters, codes: ['200', '202'] },
  deletecollection: {
    id: 'deleteCollection',
    parameters: deleteCollectionParameters,
    codes: ['200'],
  },
};

function operation(action: Action, target: OperationTarget): Json {
  const { id, parameters, codes } = words[action];
  const { group, version } = target.kind;
  const body = requestBody(action, target);
  return {
    tags: [tagOf(target)],
    description: `${id} ${target.spoken.kind}`,
    operationId: `${id}${groupWord(group)}${capital(version)}${target.subject}`,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body === undefined ? {} : { requestBody: body }),
    responses: responses(action, target, codes),
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': target.spoken,
  };
}

function tagOf({ kind: { group, version } }: OperationTarget): string {
  return `${group.replace(/\.k8s\.io$/, '').replaceAll('.', '_') || 'core'}_${version}`;
}

const readTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];
const watchTypes = readTypes
  .filter((type) => type !== 'application/yaml')
  .map((type) => `${type};stream=watch`);
const patchTypes = [
  'application/apply-patch+yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
];

function requestBody(action: Action, target: OperationTarget): Json | undefined {
  switch (action) {
    case 'post':
    case 'put':
      return { content: content(['*/*'], schemaOf(target.component)), required: true };
    case 'patch':
      return { content: content(patchTypes, refTo(`${metaPackage}.Patch`)), required: true };
    case 'delete':
    case 'deletecollection':
      return { content: content(['*/*'], refTo(`${metaPackage}.DeleteOptions`)) };
    default:
      return undefined;
  }
}

function responses(action: Action, target: OperationTarget, codes: readonly string[]): Json {
  const component =
    action === 'list'
      ? target.listComponent
      : action.startsWith('delete')
        ? `${metaPackage}.Status`
        : target.component;
  const types = action === 'list' ? [...readTypes, ...watchTypes] : readTypes;
  const good = codes.map((code) => [
    code,
    { description: descriptions[code], content: content(types, schemaOf(component)) },
  ]);
  return { ...Object.fromEntries(good), 401: { description: 'Unauthorized' } };
}

const descriptions: Readonly<Record<string, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
};

function schemaOf(component: string | undefined): Json {
  return component === undefined ? { type: 'object' } : refTo(component);
}

function content(types: readonly string[], schema: Json): Json {
  return Object.fromEntries(types.map((type) => [type, { schema }]));
}

/** `Core`, `Apps`, `RbacAuthorization`. */
function groupWord(group: string): string {
  const parts = group.replace(/\.k8s\.io$/, '').split('.');
  return parts.map((part) => capital(part || 'core')).join('');
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
