// Takes node ports for one write. Protocols do not matter: a number is taken or it is free.
import { containsPort, formatPortRange, type PortRange, portCount } from '../../ip/port-range.ts';
import type { PortPlan, PortRequest } from '../../kinds/service/allocation.ts';
import { type Service, type ServicePort, withSpec } from '../../kinds/service/types.ts';
import { internal, invalid } from '../../meta/api-error.ts';
import { invalid as invalidField } from '../../meta/field-error.ts';
import type { AllocatorMetrics, Scope } from './metrics.ts';
import type { NodePortView } from './node-port-view.ts';
import { type Bands, lowerBandSize, pickFree } from './pick-free.ts';

export type NodePortSource = {
  readonly view: NodePortView;
  readonly range: PortRange;
  readonly random: (below: number) => number;
  readonly dryRun: boolean;
  /** Absent: nobody counts. */
  readonly metrics?: AllocatorMetrics | undefined;
};

export type NodePortGrant = { readonly service: Service; readonly taken: readonly number[] };

const lowerBand = { share: 32n, least: 16n, most: 128n };
/** What a dry run shows for a port that would be chosen: numbers above the usual range, as upstream does. */
const firstDummyPort = 32769;
const allocated = 'provided port is already allocated';
const full = 'range is full';

/** Fills in the node ports of a plan, in its order; throws the error of the first that cannot be had. */
export function takeNodePorts(
  service: Service,
  plan: PortPlan,
  source: NodePortSource,
): NodePortGrant {
  if (plan.ports.length === 0 && plan.healthCheck === undefined) return { service, taken: [] };
  const taken = new Set<number>();
  // Numbers that the service names itself are not given to its other ports.
  const named = new Set(
    [...plan.ports, { nodePort: plan.healthCheck }].map((wish) =>
      'nodePort' in wish ? wish.nodePort : undefined,
    ),
  );
  const operation = { ...source, taken, named };
  const ports = plan.ports.reduce<readonly ServicePort[]>(
    (filled, wish) => fillPort({ service, ports: filled, wish, operation }),
    service.spec.ports ?? [],
  );
  const withPorts = plan.ports.length === 0 ? service : withSpec(service, { ports });
  if (plan.healthCheck === undefined) return { service: withPorts, taken: [...taken] };
  const healthCheckNodePort = takeHealthCheckPort(service, plan.healthCheck, operation);
  return { service: withSpec(withPorts, { healthCheckNodePort }), taken: [...taken] };
}

type Operation = NodePortSource & {
  /** Taken so far by this write. */
  readonly taken: Set<number>;
  readonly named: ReadonlySet<number | 'any' | undefined>;
};

type Filling = {
  readonly service: Service;
  readonly ports: readonly ServicePort[];
  readonly wish: PortRequest;
  readonly operation: Operation;
};

function fillPort({ service, ports, wish, operation }: Filling): readonly ServicePort[] {
  const nodePort =
    'sameAs' in wish
      ? ports[wish.sameAs]?.nodePort
      : wish.nodePort === 'any'
        ? takeAny(operation)
        : takeRequested(service, wish.index, { nodePort: wish.nodePort, operation });
  return ports.map((port, index) =>
    index === wish.index && nodePort !== undefined ? { ...port, nodePort } : port,
  );
}

function takeAny(operation: Operation): number {
  const port = takeFree(operation);
  if (port === undefined) throw internal(`failed to allocate a nodePort: ${full}`);
  return port;
}

function takeRequested(
  { metadata }: Service,
  index: number,
  { nodePort, operation }: { readonly nodePort: number; readonly operation: Operation },
): number {
  const refusal = take(nodePort, operation);
  if (refusal === undefined) return nodePort;
  const error = invalidField(`spec.ports[${index}].nodePort`, nodePort, refusal);
  throw invalid({ group: '', kind: 'Service' }, metadata.name ?? '', [error]);
}

function takeHealthCheckPort(
  { metadata }: Service,
  wish: number | 'any',
  operation: Operation,
): number {
  if (wish === 'any') {
    const port = takeFree(operation);
    if (port === undefined) throw internal(`failed to allocate a HealthCheck NodePort 0: ${full}`);
    return port;
  }
  const refusal = take(wish, operation);
  if (refusal === undefined) return wish;
  // Upstream answers 500, though it is the client who asked for this port.
  const error = invalidField('spec.healthCheckNodePort', wish, refusal);
  throw invalid({ group: '', kind: 'Service' }, metadata.name ?? '', [error]);
}

/** Why the port cannot be had; undefined when it now is taken. */
function take(port: number, operation: Operation): string | undefined {
  const refusal = refusalOf(port, operation);
  if (refusal === undefined) operation.taken.add(port);
  count('static', refusal === undefined, operation);
  return refusal;
}

/** A dry run does not look at the range. */
function refusalOf(port: number, { view, range, dryRun, taken }: Operation): string | undefined {
  if (!dryRun && !containsPort(range, port)) {
    return `provided port is not in the valid range. The range of valid ports is ${formatPortRange(range)}`;
  }
  return taken.has(port) || view.isTaken(port) !== undefined ? allocated : undefined;
}

function count(scope: Scope, isTaken: boolean, { metrics, dryRun }: Operation): void {
  if (metrics === undefined || dryRun) return;
  if (isTaken) metrics.portTaken(scope);
  else metrics.portRefused(scope);
}

function takeFree(operation: Operation): number | undefined {
  const { view, range, random, dryRun, taken, named } = operation;
  if (dryRun) {
    // One more than the highest of this write; what is taken by others does not matter.
    const dummy = taken.size === 0 ? firstDummyPort : Math.max(...taken) + 1;
    taken.add(dummy);
    return dummy;
  }
  const firstFree = (from: bigint, to: bigint): bigint | undefined => {
    let found = view.firstFree(from, to);
    while (found !== undefined && (taken.has(Number(found)) || named.has(Number(found)))) {
      found = view.firstFree(found + 1n, to);
    }
    return found;
  };
  const { handedOut } = view;
  const found = pickFree({ bands: portBands(range), firstFree, handedOut, random });
  count('dynamic', found !== undefined, operation);
  if (found === undefined) return undefined;
  taken.add(Number(found));
  return Number(found);
}

export function portBands(range: PortRange): Bands {
  const first = BigInt(range.first);
  const size = lowerBandSize(BigInt(portCount(range)), lowerBand);
  return { first, upper: first + size, last: BigInt(range.last) };
}
