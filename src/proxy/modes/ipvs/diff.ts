// The changes from the kernel's contents to the desired ones, in an order in which no packet meets a missing part: what is new is
// added before anything refers to it, and what is removed is removed last.
import type { VirtualService, VirtualServiceKey } from '../../../host/netlink/ipvs.ts';
import type { Element, NftSet, Operation } from '../../../host/nftables/objects.ts';
import { choiceChain } from './chains.ts';
import { type Contents, keyText, type ServerContents } from './contents.ts';
import type { RealServer } from './item.ts';
import { allSets } from './layout.ts';

export type ServerChange =
  /** With all its real servers: one that was not known may be there all the same, and have others. */
  | ({ readonly kind: 'add-server' } & ServerContents)
  | { readonly kind: 'change-server'; readonly service: VirtualService }
  | { readonly kind: 'delete-server'; readonly service: VirtualServiceKey }
  | {
      /** `add`: with weight 1, whether it is there or not. `drain`: weight 0, deleted when its last connection ended (IVS-07). */
      readonly kind: 'add-real-server' | 'drain-real-server' | 'delete-real-server';
      readonly service: VirtualServiceKey;
      readonly realServer: RealServer;
    };

export type Difference = {
  /** A transaction of its own: a packet must not be led to a chain that had no rules when it came. */
  readonly newChains: readonly Operation[];
  readonly newElements: readonly Operation[];
  readonly newServers: readonly ServerChange[];
  readonly newAddresses: readonly string[];
  readonly oldAddresses: readonly string[];
  readonly oldServers: readonly ServerChange[];
  readonly oldElements: readonly Operation[];
  readonly changes: number;
};

export function diff(before: Contents, after: Contents): Difference {
  const newServers: ServerChange[] = [];
  const oldServers: ServerChange[] = [];
  for (const [key, server] of after.servers) {
    const { come, gone } = diffServer(before.servers.get(key), server);
    newServers.push(...come);
    oldServers.push(...gone);
  }
  for (const [key, { service }] of before.servers) {
    if (!after.servers.has(key)) oldServers.push({ kind: 'delete-server', service });
  }
  const newAddresses = [...after.addresses].filter((ip) => !before.addresses.has(ip));
  const oldAddresses = [...before.addresses].filter((ip) => !after.addresses.has(ip));
  const elements = diffElements(before, after);
  const newChoices = [...after.choices].filter((count) => !before.choices.has(count));
  return {
    newChains: newChoices.flatMap(chainOperations),
    newElements: elements.come,
    newServers,
    newAddresses,
    oldAddresses,
    oldServers,
    oldElements: elements.gone,
    changes:
      newChoices.length +
      newServers.length +
      oldServers.length +
      newAddresses.length +
      oldAddresses.length +
      elements.count,
  };
}

type ServerDifference = {
  readonly come: readonly ServerChange[];
  readonly gone: readonly ServerChange[];
};

export function diffServer(
  before: ServerContents | undefined,
  after: ServerContents,
): ServerDifference {
  const { service } = after;
  const come: ServerChange[] = [];
  const gone: ServerChange[] = [];
  if (before === undefined) come.push({ kind: 'add-server', ...after });
  else if (!isSameService(before.service, service)) come.push({ kind: 'change-server', service });
  for (const [key, realServer] of after.realServers) {
    if (before?.realServers.get(key)?.weight === realServer.weight) continue;
    come.push({ kind: 'add-real-server', service, realServer });
  }
  for (const [key, realServer] of before?.realServers ?? []) {
    if (after.realServers.has(key)) continue;
    // Only TCP has an end of connections; others end when their endpoint does not answer.
    if (service.protocol !== 'TCP') gone.push({ kind: 'delete-real-server', service, realServer });
    else if (realServer.weight > 0) gone.push({ kind: 'drain-real-server', service, realServer });
  }
  return { come, gone };
}

function isSameService(a: VirtualService, b: VirtualService): boolean {
  return (
    a.scheduler === b.scheduler &&
    a.persistenceSeconds === b.persistenceSeconds &&
    a.hashesSourcePort === b.hashesSourcePort
  );
}

type ElementDifference = {
  /** With those that are replaced, deletion and all. */
  readonly come: readonly Operation[];
  readonly gone: readonly Operation[];
  readonly count: number;
};

function diffElements(before: Contents, after: Contents): ElementDifference {
  const come: Operation[] = [];
  const gone: Operation[] = [];
  let count = 0;
  for (const set of allSets) {
    const was = before.elements.get(set.name) ?? new Map<string, Element>();
    const is = after.elements.get(set.name) ?? new Map<string, Element>();
    const added = [...is.values()].filter((element) => !isSameElement(was, element));
    const replaced = added.flatMap((element) => was.get(keyText(element)) ?? []);
    const removed = [...was].filter(([key]) => !is.has(key)).map(([, element]) => element);
    // A range can be written only after a wider or narrower one in its place has gone.
    const goesFirst = set.hasIntervals ? [...replaced, ...removed] : replaced;
    come.push(...operation('delete-elements', set, goesFirst));
    come.push(...operation('add-elements', set, added));
    if (!set.hasIntervals) gone.push(...operation('delete-elements', set, removed));
    count += added.length + removed.length;
  }
  return { come, gone, count };
}

function operation(
  kind: 'add-elements' | 'delete-elements',
  set: NftSet,
  elements: readonly Element[],
): readonly Operation[] {
  return elements.length === 0 ? [] : [{ kind, set, elements }];
}

function isSameElement(was: ReadonlyMap<string, Element>, element: Element): boolean {
  const found = was.get(keyText(element));
  return found !== undefined && dataText(found) === dataText(element);
}

function dataText({ data }: Element): string {
  if (data === undefined) return '';
  if (!('kind' in data)) return data.join(' ');
  return 'chain' in data ? `${data.kind} ${data.chain}` : data.kind;
}

/** Chains that draw are never deleted: they are few, and shared by all ports. */
function chainOperations(count: number): readonly Operation[] {
  const { chain, rules } = choiceChain(count);
  return [
    { kind: 'add-chain', chain },
    { kind: 'flush-chain', chain: chain.name },
    ...rules.map(
      (statements) => ({ kind: 'add-rule', rule: { chain: chain.name, statements } }) as const,
    ),
  ];
}
