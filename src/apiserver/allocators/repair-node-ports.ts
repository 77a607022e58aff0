// Whether services and the node ports kept for them agree, and what to write where they do not. This server writes
// both in one transaction, so only what others did to the store, or another range of ports, can part them.
// Upstream: pkg/registry/core/service/portallocator/controller/repair.go.
import { containsPort, formatPortRange, type PortRange } from '../../ip/port-range.ts';
import { nodePortsHeld } from '../../kinds/service/allocation.ts';
import type { Service } from '../../kinds/service/types.ts';
import { objectKey } from '../../meta/object.ts';
import type { NodePortReservation } from './node-port-view.ts';

export type PortFinding = {
  readonly service: Service;
  readonly reason: 'PortNotAllocated' | 'PortAlreadyAllocated' | 'PortOutOfRange';
  readonly message: string;
};

/** One reservation to write. */
export type PortRepair = {
  readonly port: number;
  /** Of the key as it was judged; 0 when there is none. */
  readonly revision: number;
  /** Who gets the port; absent: nobody has it, and it becomes free. */
  readonly owner?: Service;
  /** Who is said to have it and does not; the name of a service that may not exist. */
  readonly formerOwner?: string;
};

/** Reservations that no service has, and on how many looks in a row that was so. */
export type PortLeaks = ReadonlyMap<number, { readonly revision: number; readonly looks: number }>;

export type PortState = {
  readonly services: readonly Service[];
  readonly reservations: Iterable<readonly [number, NodePortReservation]>;
  readonly range: PortRange;
  /** As the look before left them. */
  readonly leaks: PortLeaks;
};

export type PortVerdict = {
  readonly findings: readonly PortFinding[];
  readonly repairs: readonly PortRepair[];
  /** For the next look. */
  readonly leaks: PortLeaks;
};

/** Who reserves before writing the service looks like a leak for a moment: upstream's number of looks. */
const looksBeforeFree = 3;

/** Services and reservations must be of the same moment. */
export function judgeNodePorts(state: PortState): PortVerdict {
  const { services, reservations, range } = state;
  const kept = new Map(reservations);
  const holders = holdersOf(services);
  const findings: PortFinding[] = [];
  const repairs: PortRepair[] = [];
  for (const [port, claimants] of holders) {
    const reservation = kept.get(port);
    if (!containsPort(range, port)) {
      const message = `Port ${port} is not within the port range ${formatPortRange(range)}; please recreate service`;
      findings.push(
        ...claimants.map((service) => ({ service, reason: 'PortOutOfRange' as const, message })),
      );
      continue;
    }
    const owner =
      claimants.find(({ metadata }) => objectKey(metadata) === reservation?.service) ??
      claimants[0];
    if (owner === undefined) continue;
    if (objectKey(owner.metadata) !== reservation?.service) {
      const message = `Port ${port} is not allocated; repairing`;
      findings.push({ service: owner, reason: 'PortNotAllocated', message });
      repairs.push({ port, owner, ...asJudged(reservation) });
    }
    const message = `Port ${port} was assigned to multiple services; please recreate service`;
    const others = claimants.filter((service) => service !== owner);
    findings.push(
      ...others.map((service) => ({ service, reason: 'PortAlreadyAllocated' as const, message })),
    );
  }
  const unheld = [...kept].filter(([port]) => !holders.has(port));
  const leaks = countLooks(unheld, state.leaks);
  for (const [port, reservation] of unheld) {
    const isFreed = (leaks.get(port)?.looks ?? 0) >= looksBeforeFree;
    if (isFreed) repairs.push({ port, ...asJudged(reservation) });
  }
  return { findings, repairs, leaks };
}

/** A reservation that was written anew meanwhile is another one. */
function countLooks(
  unheld: readonly (readonly [number, NodePortReservation])[],
  before: PortLeaks,
): PortLeaks {
  return new Map(
    unheld.map(([port, { revision }]) => {
      const known = before.get(port);
      const looks = known?.revision === revision ? known.looks + 1 : 1;
      return [port, { revision, looks }];
    }),
  );
}

/** The services of each port, the oldest first: of several that none is named of, that one is right. */
function holdersOf(services: readonly Service[]): ReadonlyMap<number, readonly Service[]> {
  const holders = new Map<number, Service[]>();
  for (const service of [...services].sort(byAge)) {
    for (const port of nodePortsHeld(service)) {
      const known = holders.get(port);
      if (known === undefined) holders.set(port, [service]);
      else known.push(service);
    }
  }
  return holders;
}

function byAge(a: Service, b: Service): number {
  const ageOf = ({ metadata }: Service): string =>
    `${metadata.creationTimestamp ?? ''} ${objectKey(metadata)}`;
  return ageOf(a) < ageOf(b) ? -1 : 1;
}

function asJudged(reservation: NodePortReservation | undefined) {
  return reservation === undefined
    ? { revision: 0 }
    : { revision: reservation.revision, formerOwner: reservation.service };
}
