// Looks at what has changed, decides anew what this node answers for, and says so on the link.
import type { EventRecorder } from '../../client/event-recorder.ts';
import type { Informer } from '../../client/informer.ts';
import type { NeighborAnswers } from '../../host/answer-neighbors.ts';
import type { Cancel, Clock } from '../../host/clock.ts';
import type { EndpointSlice } from '../../kinds/endpoint-slice/types.ts';
import type { Lease } from '../../kinds/lease/types.ts';
import type { Node } from '../../kinds/node/types.ts';
import { apiServerKey } from '../../kinds/service/address-owners.ts';
import type { Service } from '../../kinds/service/types.ts';
import type { Log } from '../../observe/log.ts';
import { candidateNodes } from '../service-controller/candidate-nodes.ts';
import { type Answerer, decideAnswerers } from './desired.ts';
import { foreignAddresses } from './foreign-addresses.ts';
import { type Holding, standingOf } from './holding.ts';
import type { LeaseObserver } from './lease-observer.ts';
import { nodesIn, serviceIndex, sliceKeyOf } from './local-endpoints.ts';
import type { AnnouncerMetrics } from './metrics.ts';
import { triesPerLease } from './run-lease.ts';

export type CheckParts = {
  readonly nodeName: string;
  readonly services: Informer<Service>;
  readonly nodes: Informer<Node>;
  readonly slices: Informer<EndpointSlice>;
  readonly leases: Informer<Lease>;
  readonly leaseObserver: LeaseObserver;
  readonly holding: Holding;
  readonly answers: NeighborAnswers;
  /** When the own lease was last renewed; undefined: not wanted. */
  readonly renewedAt: () => number | undefined;
  readonly leaseMs: number;
  readonly recorder: EventRecorder;
  readonly metrics: AnnouncerMetrics;
  readonly clock: Clock;
  readonly log: Log;
  readonly ownClass?: string;
  /** Answers for whatever address the status of a Service names. */
  readonly allowsForeignAddresses: boolean;
};

export type AddressChecks = { readonly soon: () => void; readonly stop: () => void };

/** Changes that come together are looked at together. */
const gatherMs = 10;

export function startAddressChecks(parts: CheckParts): AddressChecks {
  const { clock, leaseObserver, leaseMs } = parts;
  let next: Cancel | undefined;
  let later: Cancel | undefined;
  const now = (): void => {
    next = undefined;
    checkAddresses(parts);
    later?.();
    // Who dies or is cut off does not say so: at the next death, and often enough to notice the own state.
    const death =
      (leaseObserver.nextDeath(clock.now()) ?? Number.POSITIVE_INFINITY) - clock.now() + 1;
    later = clock.after(Math.min(death, leaseMs / triesPerLease), soon);
  };
  const soon = (): void => {
    next ??= clock.after(gatherMs, now);
  };
  const stops = follow(parts, soon);
  return {
    soon,
    stop() {
      for (const stop of stops) stop();
      next?.();
      later?.();
    },
  };
}

function follow(parts: CheckParts, soon: () => void): readonly (() => void)[] {
  const { services, nodes, slices, leases, leaseObserver, clock } = parts;
  const any = { add: soon, update: soon, delete: soon };
  const heard = (lease: Lease): void => {
    leaseObserver.heard(lease, clock.now());
    soon();
  };
  const gone = (lease: Lease): void => {
    leaseObserver.gone(lease);
    soon();
  };
  return [
    services.onChange(any),
    nodes.onChange(any),
    slices.onChange(any),
    leases.onChange({ add: heard, update: (_before, after) => heard(after), delete: gone }),
  ];
}

function checkAddresses(parts: CheckParts): void {
  const { clock, holding, answers, metrics, leaseObserver, nodeName, leaseMs, log } = parts;
  const now = clock.now();
  const renewedAt = parts.renewedAt();
  const standing = standingOf({ now, renewedAt, seenAt: leaseObserver.seenAt(nodeName), leaseMs });
  if (standing === 'cut-off') {
    if (holding.yieldClaimed(renewedAt ?? now)) {
      log.warn('gave up addresses that another node has', { node: nodeName });
      answers.answerFor(holding.addresses(), []);
    }
  } else {
    const living = standing === 'member' ? leaseObserver.living(now) : [];
    metrics.living.set({}, living.length);
    const before = holding.addresses().length;
    const mine = addressesOf(parts, living);
    const added = holding.set([...mine.keys()], now);
    for (const address of added) reportTaken(parts, address, mine.get(address));
    const due = holding.due(now);
    if (due.length > 0 || before + added.length !== mine.size)
      answers.answerFor(holding.addresses(), due);
  }
  metrics.addresses.set({}, holding.addresses().length);
}

/** What falls to this node, of all that the living share. */
function addressesOf(
  { services, nodes, slices, nodeName, ownClass, allowsForeignAddresses }: CheckParts,
  living: readonly string[],
): ReadonlyMap<string, Answerer> {
  if (!living.includes(nodeName)) return new Map();
  const candidates = new Set(
    candidateNodes([...nodes.store.values()]).map(({ metadata }) => metadata.name),
  );
  const ownerOf = foreignAddresses({
    nodes: [...nodes.store.values()],
    apiServerSlices: slices.store.select(serviceIndex, apiServerKey),
  });
  const answerers = decideAnswerers({
    isForeign: (address) => !allowsForeignAddresses && ownerOf(address) !== undefined,
    services: services.store.values(),
    nodes: living.filter((node) => candidates.has(node)),
    nodesWithEndpoints: (service) =>
      nodesIn(slices.store.select(serviceIndex, sliceKeyOf(service))),
    ...(ownClass === undefined ? {} : { ownClass }),
  });
  return new Map([...answerers].filter(([, { node }]) => node === nodeName));
}

function reportTaken(
  { recorder, metrics, nodeName, log }: CheckParts,
  address: string,
  answerer: Answerer | undefined,
): void {
  metrics.takeovers.add();
  log.info('answers for an address', { node: nodeName, address });
  const message = `Node "${nodeName}" answers for ${address}`;
  for (const service of answerer?.services ?? [])
    recorder.record(service, { type: 'Normal', reason: 'AnnouncedAddress', message });
}
