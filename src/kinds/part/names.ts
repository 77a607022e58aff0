// The API group over which parts (node proxies, DNS servers) say what is in effect. Its resources are answered and never stored.
import * as labels from '../../meta/names.ts';

export const partsGroup = 'parts.fairlead.dev';
export const partsVersion = 'v1alpha1';

const served = { group: partsGroup, version: partsVersion } as const;

/** A connected part: `questions` is the stream that it reads, `answers` is where it answers. */
export const partResource = {
  ...served,
  kind: 'Part',
  plural: 'parts',
  singular: 'part',
  namespaced: false,
} as const;

/** One question to all parts that are connected to a server, which other servers of the cluster send. */
export const questionResource = {
  ...served,
  kind: 'Question',
  plural: 'questions',
  singular: 'question',
  namespaced: false,
} as const;

const partKinds = ['proxy', 'dns'] as const;
export type PartKind = (typeof partKinds)[number];

/** `proxy.node-1`: the kind of a part, and the node or machine that it runs on. */
export type PartName = { readonly kind: PartKind; readonly node: string };

export const formatPartName = ({ kind, node }: PartName): string => `${kind}.${node}`;

const maxNodeLength = 253;

/** The name of a part on this machine, whatever the machine is called. */
export function partOn(kind: PartKind, machine: string): PartName {
  const plain = machine
    .toLowerCase()
    .slice(0, maxNodeLength)
    .replaceAll(/[^a-z0-9.-]/g, '-');
  const node = labels.dns1123Subdomain(plain).length === 0 ? plain : 'unnamed';
  return { kind, node };
}

export function parsePartName(text: string): PartName | undefined {
  const at = text.indexOf('.');
  const kind = partKinds.find((one) => one === text.slice(0, at));
  const node = text.slice(at + 1);
  if (kind === undefined || labels.dns1123Subdomain(node).length > 0) return undefined;
  return { kind, node };
}
