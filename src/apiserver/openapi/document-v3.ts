// OpenAPI v3: one document for each group and version, and small ones for the paths between.
import type { StructNode } from '../../schema/node.ts';
import type { ServedGroup, ServedKind, ServedVersion } from '../discovery/served-kind.ts';
import { type ComponentNames, nameComponents } from './component-names.ts';
import { addComponent, type Components, type Json, refTo } from './components.ts';
import { deleteOptions, listMeta, metaPackage, status } from './meta-types.ts';
import { addPaths, type FindComponent, type Paths } from './paths.ts';

export type DocumentV3 = {
  readonly openapi: '3.0.0';
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Paths;
  readonly components?: { readonly schemas: Components };
};

/** A kind that has no resource of its own and is spoken at subresources: Scale, Binding, TokenRequest. */
export type SpokenKind = {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly schema: StructNode;
};

export type DocumentParts = {
  readonly groups: readonly ServedGroup[];
  readonly spokenKinds: readonly SpokenKind[];
  readonly version: string;
};

/** Builders by the name under which the index lists them: `api/v1`, `apis/apps/v1`, `version`. */
export function documentsV3(parts: DocumentParts): ReadonlyMap<string, () => DocumentV3> {
  const { groups, version } = parts;
  const names = nameComponents(groups, parts.spokenKinds);
  const builders = new Map<string, () => DocumentV3>();
  const small = (path: string, what: string) =>
    builders.set(path, () => document(version, { [`/${path}/`]: { get: smallOperation(what) } }));

  small('version', 'Which version this server is');
  small('apis', 'All groups');
  for (const group of groups) {
    const root = group.group === '' ? 'api' : `apis/${group.group}`;
    small(root, 'Versions of the group');
    for (const served of group.versions) {
      builders.set(`${root}/${served.version}`, () => {
        const components = componentsOf(served, parts, names);
        return document(version, pathsOf(served, components), components);
      });
    }
  }
  return builders;
}

function document(version: string, paths: Paths, schemas?: Components): DocumentV3 {
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version },
    paths,
    ...(schemas === undefined ? {} : { components: { schemas } }),
  };
}

function smallOperation(description: string): Json {
  const good = {
    description: 'OK',
    content: { 'application/json': { schema: { type: 'object' } } },
  };
  return { description, responses: { 200: good, 401: { description: 'Unauthorized' } } };
}

function componentsOf(
  { kinds }: ServedVersion,
  { groups, spokenKinds }: DocumentParts,
  names: ComponentNames,
): Components {
  const components: Components = {};
  const known = new Map(
    [...servedKinds(groups), ...spokenKinds].map((kind) => [kindKey(kind), kind]),
  );
  for (const kind of kinds) {
    addKind(components, names, kind);
    if (kind.verbs.includes('list')) addList(components, names, kind);
    for (const sub of kind.subresources) {
      const spoken = known.get(kindKey(sub));
      if (spoken !== undefined) addKind(components, names, spoken);
    }
  }
  addCommon(components, names, groups);
  return components;
}

function addKind(components: Components, names: ComponentNames, spoken: SpokenKind): void {
  const { group, version, kind, schema } = spoken;
  const name = addComponent(components, names, schema);
  mark(components, name, schema, [{ group, version, kind }]);
}

function addList(components: Components, names: ComponentNames, served: ServedKind): void {
  const { group, version, kind, schema } = served;
  const name = names.of(schema);
  const metadata = refTo(addComponent(components, names, listMeta));
  components[`${name}List`] = {
    type: 'object',
    description: `A list of ${served.plural}.`,
    required: ['items'],
    properties: {
      apiVersion: {
        type: 'string',
        description: 'Group and version of the schema it is written in.',
      },
      kind: { type: 'string', description: 'What this object is.' },
      metadata: { allOf: [metadata], description: 'Version and paging.' },
      items: { type: 'array', description: 'The objects.', items: refTo(name) },
    },
    'x-kubernetes-group-version-kind': [{ group, version, kind: `${kind}List` }],
  };
}

/** What operations of every group refer to. */
function addCommon(
  components: Components,
  names: ComponentNames,
  groups: readonly ServedGroup[],
): void {
  const statusKind = { group: '', version: 'v1', kind: status.name };
  mark(components, addComponent(components, names, status), status, [statusKind]);
  const deleteKinds = groups.flatMap(({ group, versions }) =>
    versions.map(({ version }) => ({ group, version, kind: deleteOptions.name })),
  );
  mark(components, addComponent(components, names, deleteOptions), deleteOptions, deleteKinds);
  components[`${metaPackage}.Patch`] = { type: 'object', description: 'What to change.' };
}

function mark(
  components: Components,
  name: string,
  { description }: StructNode,
  kinds: readonly Json[],
): void {
  components[name] = {
    ...components[name],
    ...(description === undefined ? {} : { description }),
    'x-kubernetes-group-version-kind': kinds,
  };
}

function pathsOf({ kinds }: ServedVersion, components: Components): Paths {
  const byKind = new Map<string, string>();
  for (const [name, component] of Object.entries(components)) {
    for (const kind of marksOf(component)) byKind.set(kindKey(kind), name);
  }
  const find: FindComponent = (group, version, kind) =>
    byKind.get(kindKey({ group, version, kind }));
  const paths: Paths = {};
  for (const kind of kinds) addPaths(paths, kind, find);
  return paths;
}

type KindMark = { readonly group: string; readonly version: string; readonly kind: string };

function marksOf(component: Json): readonly KindMark[] {
  return (component['x-kubernetes-group-version-kind'] ?? []) as readonly KindMark[];
}

function kindKey({ group, version, kind }: KindMark): string {
  return `${group}/${version}/${kind}`;
}

function servedKinds(groups: readonly ServedGroup[]): readonly ServedKind[] {
  return groups.flatMap(({ versions }) => versions.flatMap(({ kinds }) => kinds));
}
