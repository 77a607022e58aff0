// What the table holds for some service ports, against what they want.
import type { Element, NftSet } from '../../../host/nftables/objects.ts';
import type { ProxyState, ServicePort } from '../../model/state.ts';
import type { Drift } from '../mode.ts';
import { desiredForPort } from './desired.ts';
import { isOwnTable, type TableContents } from './diff.ts';
import type { Entry } from './fragment.ts';
import { hairpinConnections, ipFields, nodePortFields, ownSets } from './layout.ts';

/** As `nft` writes it. */
export type RenderElement = (element: Element) => string;

/** Undefined: another program wrote the table. Other service ports are left alone. */
export function driftOf(
  contents: TableContents,
  { ports, node }: ProxyState,
  render: RenderElement,
): Drift | undefined {
  const entryText = ({ set, element }: Entry): string =>
    `element of ${set.name}: ${render(element)}`;
  if (!isOwnTable(contents)) return undefined;
  const fragments = [...ports.values()].map((port) => desiredForPort(port, node));
  const wanted = new Map(
    fragments.flatMap(({ entries }) => entries).map((entry) => [entryKey(entry), entry]),
  );
  const found = new Map(
    ownSets.flatMap((set) =>
      (contents.elements.get(set.name) ?? []).map(
        (element) => [entryKey({ set, element }), { set, element }] as const,
      ),
    ),
  );
  const isSame = (one: Entry, other: Entry | undefined): boolean =>
    other !== undefined && entryText(one) === entryText(other);
  const chains = [
    ...new Set(fragments.flatMap((one) => one.chains.map(({ chain }) => chain.name))),
  ];
  const isOf = belongsTo([...ports.values()]);
  return {
    missing: [
      ...chains.filter((name) => !contents.chains.has(name)).map((name) => `chain ${name}`),
      ...[...wanted]
        .filter(([key, entry]) => !isSame(entry, found.get(key)))
        .map(([, entry]) => entryText(entry)),
    ],
    stale: [...found]
      .filter(([key, entry]) => isOf(entry) && !isSame(entry, wanted.get(key)))
      .map(([, entry]) => entryText(entry)),
  };
}

function entryKey({ set, element }: Entry): string {
  return `${set.name} ${element.key.join(' ')}`;
}

/** By how the keys of the set begin: with an address, protocol and port of a service port, or with the two of a node port. */
function belongsTo(ports: readonly ServicePort[]): (entry: Entry) => boolean {
  const own = new Set(
    ports.flatMap(({ clusterIP, externalIPs, loadBalancerIPs, nodePort, port, protocol }) => {
      const word = protocol.toLowerCase();
      const ips = [
        ...(clusterIP === undefined ? [] : [clusterIP]),
        ...externalIPs,
        ...loadBalancerIPs,
      ];
      return [
        ...ips.map((ip) => `${ip} ${word} ${port}`),
        ...(nodePort === undefined ? [] : [`${word} ${nodePort}`]),
      ];
    }),
  );
  return ({ set, element }) =>
    set.name !== hairpinConnections.name && own.has(startOf(set, element));
}

function startOf({ key: [first] }: NftSet, { key }: Element): string {
  return key.slice(0, first === 'address' ? ipFields.length : nodePortFields.length).join(' ');
}
