// Whether Services and node port reservations agree, and what to write where they do not. This server writes both in one
// transaction, so they differ only after other writes to the store, or with another port range.
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
  /** The revision of its key; 0 when there is none. */
  readonly revision: number;
  /** The Service that gets the port; absent: the port is released. */
  readonly owner?: Service;
  /** The Service of the wrong reservation, which may not exist. */
  readonly formerOwner?: string;
};

/** Reservations without a Service, and in how many consecutive checks. */
export type PortLeaks = ReadonlyMap<number, { readonly revision: number; readonly checks: number }>;

export type PortState = {
  readonly services: readonly Service[];
  readonly reservations: Iterable<readonly [number, NodePortReservation]>;
  readonly range: PortRange;
  /** From the previous check. */
  readonly leaks: PortLeaks;
};

export type PortVerdict = {
  readonly findings: readonly PortFinding[];
  readonly repairs: readonly PortRepair[];
  /** For the next check. */
  readonly leaks: PortLeaks;
};

/** A writer that reserves before it writes the Service looks like a leak for a moment; the number is upstream's. */
const checksBeforeRelease = 3;

/** Services and reservations must be of the same revision. */
export function judgeNodePorts(state: PortState): PortVerdict {
  const { services, reservations, range } = state;
  const reserved = new Map(reservations);
  const holders = holdersOf(services);
  const findings: PortFinding[] = [];
  const repairs: PortRepair[] = [];
  for (const [port, claimants] of holders) {
    const reservation = reserved.get(port);
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
  const unused = [...reserved].filter(([port]) => !holders.has(port));
  const leaks = countChecks(unused, state.leaks);
  for (const [port, reservation] of unused) {
    const isFreed = (leaks.get(port)?.checks ?? 0) >= checksBeforeRelease;
    if (isFreed) repairs.push({ port, ...asJudged(reservation) });
  }
  return { findings, repairs, leaks };
}

/** A reservation that was written again meanwhile counts from the start. */
function countChecks(
  unused: readonly (readonly [number, NodePortReservation])[],
  before: PortLeaks,
): PortLeaks {
  return new Map(
    unused.map(([port, { revision }]) => {
      const known = before.get(port);
      const checks = known?.revision === revision ? known.checks + 1 : 1;
      return [port, { revision, checks }];
    }),
  );
}

/** The Services of each port, oldest first: the oldest keeps a port that is reserved for none of them. */
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
