// Resyncs after changes: computes which addresses this node answers for, and announces the new ones.
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
  /** When our own lease was last renewed; undefined: not held. */
  readonly renewedAt: () => number | undefined;
  readonly leaseMs: number;
  readonly recorder: EventRecorder;
  readonly metrics: AnnouncerMetrics;
  readonly clock: Clock;
  readonly log: Log;
  readonly ownClass?: string;
  /** Answers for any address that the status of a Service names. */
  readonly allowsForeignAddresses: boolean;
};

export type AddressChecks = { readonly soon: () => void; readonly stop: () => void };

/** Changes within this time are processed together. */
const gatherMs = 10;

export function startAddressChecks(parts: CheckParts): AddressChecks {
  const { clock, leaseObserver, leaseMs } = parts;
  let next: Cancel | undefined;
  let later: Cancel | undefined;
  const now = (): void => {
    next = undefined;
    checkAddresses(parts);
    later?.();
    // Expiry of a lease sends no event: check at the next expiry, and often enough to notice our own state.
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
  const observed = (lease: Lease): void => {
    leaseObserver.observed(lease, clock.now());
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
    leases.onChange({ add: observed, update: (_before, after) => observed(after), delete: gone }),
  ];
}

function checkAddresses(parts: CheckParts): void {
  const { clock, holding, answers, metrics, leaseObserver, nodeName, leaseMs, log } = parts;
  const now = clock.now();
  const renewedAt = parts.renewedAt();
  const standing = standingOf({ now, renewedAt, seenAt: leaseObserver.seenAt(nodeName), leaseMs });
  if (standing === 'cut-off') {
    if (holding.yieldClaimed(renewedAt ?? now)) {
      log.warn('Released addresses that another node claims', { node: nodeName });
      answers.answerFor(holding.addresses(), []);
    }
  } else {
    const living = standing === 'member' ? leaseObserver.living(now) : [];
    metrics.living.set({}, living.length);
    const before = holding.addresses().length;
    const own = addressesOf(parts, living);
    const added = holding.set([...own.keys()], now);
    for (const address of added) reportTaken(parts, address, own.get(address));
    const due = holding.due(now);
    if (due.length > 0 || before + added.length !== own.size)
      answers.answerFor(holding.addresses(), due);
  }
  metrics.addresses.set({}, holding.addresses().length);
}

/** The addresses of this node, of all that the live nodes share. */
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
  log.info('Answering for address', { node: nodeName, address });
  const message = `Node "${nodeName}" answers for ${address}`;
  for (const service of answerer?.services ?? [])
    recorder.record(service, { type: 'Normal', reason: 'AnnouncedAddress', message });
}
