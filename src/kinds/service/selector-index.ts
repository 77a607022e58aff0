// An index of Services by selector. The Services of a namespace use few combinations of label keys, so one lookup for
// each combination finds all that select a pod.
import type { Labels } from '../../meta/labels.ts';

export type SelectorIndex = {
  /** The index key of a selector; an absent or empty one has none. */
  readonly set: (service: ServiceName, selector: Labels | undefined) => void;
  readonly remove: (service: ServiceName) => void;
  /** Names of the Services that select a pod with these labels. */
  readonly matching: (namespace: string, labels: Labels | undefined) => readonly string[];
};

export type ServiceName = { readonly namespace: string; readonly name: string };

/** Services with the same selector keys, by their values. */
type KeyGroup = { readonly keys: readonly string[]; readonly byValues: Map<string, Set<string>> };
type Groups = Map<string, KeyGroup>;

export function createSelectorIndex(): SelectorIndex {
  const namespaces = new Map<string, Groups>();
  const selectors = new Map<string, Labels>();
  const remove = (service: ServiceName): void => {
    const id = idOf(service);
    const selector = selectors.get(id);
    if (selector === undefined) return;
    selectors.delete(id);
    const groups = namespaces.get(service.namespace);
    if (groups === undefined) return;
    unfile(groups, selector, service.name);
    if (groups.size === 0) namespaces.delete(service.namespace);
  };
  return {
    remove,
    set(service, selector) {
      remove(service);
      if (selector === undefined || Object.keys(selector).length === 0) return;
      selectors.set(idOf(service), selector);
      file(groupsOf(namespaces, service.namespace), selector, service.name);
    },
    matching(namespace, labels = {}) {
      const found: string[] = [];
      for (const { keys, byValues } of namespaces.get(namespace)?.values() ?? []) {
        const values = valuesText(keys, labels);
        if (values !== undefined) found.push(...(byValues.get(values) ?? []));
      }
      return found;
    },
  };
}

const idOf = ({ namespace, name }: ServiceName): string => `${namespace}/${name}`;

function groupsOf(namespaces: Map<string, Groups>, namespace: string): Groups {
  const known = namespaces.get(namespace);
  if (known !== undefined) return known;
  const groups: Groups = new Map();
  namespaces.set(namespace, groups);
  return groups;
}

function file(groups: Groups, selector: Labels, name: string): void {
  const keys = Object.keys(selector).sort();
  const group = groups.get(keys.join()) ?? { keys, byValues: new Map() };
  groups.set(keys.join(), group);
  const values = valuesText(keys, selector) ?? '';
  const names = group.byValues.get(values) ?? new Set();
  group.byValues.set(values, names.add(name));
}

function unfile(groups: Groups, selector: Labels, name: string): void {
  const keys = Object.keys(selector).sort();
  const group = groups.get(keys.join());
  const values = valuesText(keys, selector) ?? '';
  const names = group?.byValues.get(values);
  names?.delete(name);
  if (names?.size === 0) group?.byValues.delete(values);
  if (group?.byValues.size === 0) groups.delete(keys.join());
}

/** The values of the keys as one text; undefined when a key is missing. Values cannot contain commas. */
function valuesText(keys: readonly string[], labels: Labels): string | undefined {
  let text = '';
  for (const key of keys) {
    if (!Object.hasOwn(labels, key)) return undefined;
    text += `${labels[key]},`;
  }
  return text;
}
