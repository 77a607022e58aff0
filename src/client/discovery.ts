// Discovers the resources of a server: by aggregated discovery where the server has it, otherwise group by group.
import { type ApiCaller, callApi } from './api-call.ts';
import type { ResourceNames } from './resource.ts';

export type DiscoveredResource = ResourceNames & {
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: readonly string[];
  /** Whether this is the version that the server prefers for its group. */
  readonly preferred: boolean;
};

const aggregated =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';

/** All resources in the server's order: the core group first, preferred versions before others. */
export async function discover(
  caller: ApiCaller,
  signal?: AbortSignal,
): Promise<readonly DiscoveredResource[]> {
  const get = (path: string, accept?: string): Promise<unknown> =>
    callApi(caller, {
      method: 'GET',
      path,
      ...(accept === undefined ? {} : { accept }),
      ...(signal === undefined ? {} : { signal }),
    });
  const [core, named] = await Promise.all([get('/api', aggregated), get('/apis', aggregated)]);
  if (isAggregate(core) && isAggregate(named))
    return [...core.items, ...named.items].flatMap(fromAggregate);
  return discoverByGroup(get, named as PlainGroups);
}

type Aggregate = {
  readonly kind: 'APIGroupDiscoveryList';
  readonly items: readonly AggregateGroup[];
};
type AggregateGroup = {
  readonly metadata?: { readonly name?: string };
  readonly versions?: readonly {
    readonly version: string;
    readonly resources?: readonly AggregateResource[];
  }[];
};
type AggregateResource = {
  readonly resource: string;
  readonly responseKind?: { readonly kind: string };
  readonly scope: string;
  readonly singularResource: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly { readonly subresource: string }[];
};

function isAggregate(value: unknown): value is Aggregate {
  return (
    typeof value === 'object' &&
    value !== null &&
    'kind' in value &&
    value.kind === 'APIGroupDiscoveryList'
  );
}

function fromAggregate({ metadata, versions = [] }: AggregateGroup): readonly DiscoveredResource[] {
  return versions.flatMap(({ version, resources = [] }, index) =>
    resources.map((found) => ({
      group: metadata?.name ?? '',
      version,
      kind: found.responseKind?.kind ?? '',
      plural: found.resource,
      singular: found.singularResource,
      namespaced: found.scope === 'Namespaced',
      shortNames: found.shortNames ?? [],
      categories: found.categories ?? [],
      verbs: found.verbs,
      subresources: (found.subresources ?? []).map(({ subresource }) => subresource),
      preferred: index === 0,
    })),
  );
}

type PlainGroups = {
  readonly groups?: readonly {
    readonly name: string;
    readonly versions: readonly { readonly version: string }[];
    readonly preferredVersion?: { readonly version: string };
  }[];
};

type PlainResource = {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly kind: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
};

async function discoverByGroup(
  get: (path: string) => Promise<unknown>,
  { groups = [] }: PlainGroups,
): Promise<readonly DiscoveredResource[]> {
  const wanted = [
    { path: '/api/v1', group: '', version: 'v1', preferred: true },
    ...groups.flatMap(({ name, versions, preferredVersion }) =>
      versions.map(({ version }) => ({
        path: `/apis/${name}/${version}`,
        group: name,
        version,
        preferred: version === preferredVersion?.version,
      })),
    ),
  ];
  const documents = await Promise.all(wanted.map(({ path }) => get(path)));
  return wanted.flatMap(({ group, version, preferred }, index) => {
    const { resources = [] } = documents[index] as {
      readonly resources?: readonly PlainResource[];
    };
    return fromPlain(resources, { group, version, preferred });
  });
}

function fromPlain(
  resources: readonly PlainResource[],
  origin: { readonly group: string; readonly version: string; readonly preferred: boolean },
): readonly DiscoveredResource[] {
  return resources
    .filter(({ name }) => !name.includes('/'))
    .map((found) => ({
      ...origin,
      kind: found.kind,
      plural: found.name,
      singular: found.singularName || found.kind.toLowerCase(),
      namespaced: found.namespaced,
      shortNames: found.shortNames ?? [],
      categories: found.categories ?? [],
      verbs: found.verbs,
      subresources: resources.flatMap(({ name }) =>
        name.startsWith(`${found.name}/`) ? [name.slice(found.name.length + 1)] : [],
      ),
    }));
}
