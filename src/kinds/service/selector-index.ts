// Finds the services that select a pod without looking at every service. Services of a namespace tend to use few
// combinations of label keys, so one look-up for each combination finds them all.
import type { Labels } from '../../meta/labels.ts';

export type SelectorIndex = {
  /** Files a service under its selector; an absent or empty one selects nothing. */
  readonly set: (service: ServiceName, selector: Labels | undefined) => void;
  readonly remove: (service: ServiceName) => void;
  /** Names of the services whose selector the labels satisfy. */
  readonly matching: (namespace: string, labels: Labels | undefined) => readonly string[];
};

export type ServiceName = { readonly namespace: string; readonly name: string };

/** The services that select by the same keys, by the values they ask for. */
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

/** The values of the keys as one text, or nothing when a key is missing. Commas cannot be part of a value. */
function valuesText(keys: readonly string[], labels: Labels): string | undefined {
  let text = '';
  for (const key of keys) {
    if (!Object.hasOwn(labels, key)) return undefined;
    text += `${labels[key]},`;
  }
  return text;
}
