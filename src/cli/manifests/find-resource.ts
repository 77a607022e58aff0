// Finds a resource by its plural, singular or short name or its kind, with optional version and group.
import type { DiscoveredResource } from '../../client/discovery.ts';
import { FailedError } from '../../flags/command.ts';
import { groupVersion } from '../../meta/object.ts';

/** `svc`, `Service`, `deployments.apps`, `deployments.v1.apps`. */
function findResource(all: readonly DiscoveredResource[], name: string): DiscoveredResource {
  const [word = '', ...rest] = name.split('.');
  const lower = word.toLowerCase();
  const group = rest.join('.');
  const [version = '', ...groupAfterVersion] = rest;
  const isMeant = (resource: DiscoveredResource): boolean => {
    if (rest.length === 0) return resource.preferred;
    if (resource.group === group) return resource.preferred;
    return resource.version === version && resource.group === groupAfterVersion.join('.');
  };
  const candidates = all.filter(isMeant);
  const found =
    candidates.find(({ plural }) => plural === lower) ??
    candidates.find(({ singular }) => singular === lower) ??
    candidates.find(({ shortNames }) => shortNames.includes(lower)) ??
    candidates.find(({ kind }) => kind.toLowerCase() === lower);
  if (found !== undefined) return found;
  throw new FailedError(`error: the server doesn't have a resource type ${JSON.stringify(word)}`);
}

/** A comma-separated list; a category such as `all` stands for its resources. */
export function findResources(
  all: readonly DiscoveredResource[],
  names: string,
): readonly DiscoveredResource[] {
  return names.split(',').flatMap((name) => {
    const members = all.filter(
      ({ categories, preferred }) => preferred && categories.includes(name),
    );
    return members.length > 0 ? members : [findResource(all, name)];
  });
}

export function findKind(
  all: readonly DiscoveredResource[],
  apiVersion: string,
  kind: string,
): DiscoveredResource | undefined {
  return all.find(
    (one) => one.kind === kind && groupVersion(one.group, one.version) === apiVersion,
  );
}

/** `service`, `deployment.apps`: the resource name in output. */
export function shortKind({
  singular,
  kind,
  group,
}: Pick<DiscoveredResource, 'singular' | 'kind' | 'group'>): string {
  const word = singular || kind.toLowerCase();
  return group === '' ? word : `${word}.${group}`;
}

/** Parsed arguments of a command: `svc web api`, `svc,pods`, or `svc/web pod/a`. */
export type Target = { readonly resource: DiscoveredResource; readonly name?: string };

export function parseTargets(
  all: readonly DiscoveredResource[],
  words: readonly string[],
): readonly Target[] {
  const [first = '', ...names] = words;
  if (words.some((word) => word.includes('/'))) {
    return words.map((word) => {
      const [type = '', name = '', ...more] = word.split('/');
      if (type === '' || name === '' || more.length > 0) {
        throw new FailedError(
          `error: arguments in resource/name form must have a single resource and name, not ${JSON.stringify(word)}`,
        );
      }
      return { resource: findResource(all, type), name };
    });
  }
  const resources = findResources(all, first);
  if (names.length === 0) return resources.map((resource) => ({ resource }));
  return resources.flatMap((resource) => names.map((name) => ({ resource, name })));
}
