// Allocates the node ports of one write. Protocols do not matter: a number is allocated or free.
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
  /** Absent: not counted. */
  readonly metrics?: AllocatorMetrics | undefined;
};

export type NodePortGrant = { readonly service: Service; readonly taken: readonly number[] };

const lowerBand = { share: 32n, min: 16n, max: 128n };
/** What a dry run shows for a dynamic port: numbers above the default range, as upstream. */
const firstDummyPort = 32769;
const allocated = 'provided port is already allocated';
const full = 'range is full';

/** Fills in the node ports of a plan, in its order; throws the error of the first that cannot be allocated. */
export function allocateNodePorts(
  service: Service,
  plan: PortPlan,
  source: NodePortSource,
): NodePortGrant {
  if (plan.ports.length === 0 && plan.healthCheck === undefined) return { service, taken: [] };
  const taken = new Set<number>();
  // Ports that the service requests are not allocated to its other ports.
  const named = new Set(
    [...plan.ports, { nodePort: plan.healthCheck }].map((request) =>
      'nodePort' in request ? request.nodePort : undefined,
    ),
  );
  const operation = { ...source, taken, named };
  const ports = plan.ports.reduce<readonly ServicePort[]>(
    (filled, request) => fillPort({ service, ports: filled, request, operation }),
    service.spec.ports ?? [],
  );
  const withPorts = plan.ports.length === 0 ? service : withSpec(service, { ports });
  if (plan.healthCheck === undefined) return { service: withPorts, taken: [...taken] };
  const healthCheckNodePort = takeHealthCheckPort(service, plan.healthCheck, operation);
  return { service: withSpec(withPorts, { healthCheckNodePort }), taken: [...taken] };
}

type Operation = NodePortSource & {
  /** Allocated so far by this write. */
  readonly taken: Set<number>;
  readonly named: ReadonlySet<number | 'any' | undefined>;
};

type Filling = {
  readonly service: Service;
  readonly ports: readonly ServicePort[];
  readonly request: PortRequest;
  readonly operation: Operation;
};

function fillPort({ service, ports, request, operation }: Filling): readonly ServicePort[] {
  const nodePort =
    'sameAs' in request
      ? ports[request.sameAs]?.nodePort
      : request.nodePort === 'any'
        ? takeAny(operation)
        : takeRequested(service, request.index, { nodePort: request.nodePort, operation });
  return ports.map((port, index) =>
    index === request.index && nodePort !== undefined ? { ...port, nodePort } : port,
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
  request: number | 'any',
  operation: Operation,
): number {
  if (request === 'any') {
    const port = takeFree(operation);
    if (port === undefined) throw internal(`failed to allocate a HealthCheck NodePort 0: ${full}`);
    return port;
  }
  const refusal = take(request, operation);
  if (refusal === undefined) return request;
  // Upstream answers 500, although the client requested this port.
  const error = invalidField('spec.healthCheckNodePort', request, refusal);
  throw invalid({ group: '', kind: 'Service' }, metadata.name ?? '', [error]);
}

/** Allocates the port, or returns why that is not possible. */
function take(port: number, operation: Operation): string | undefined {
  const refusal = refusalOf(port, operation);
  if (refusal === undefined) operation.taken.add(port);
  count('static', refusal === undefined, operation);
  return refusal;
}

/** A dry run does not check the range. */
function refusalOf(port: number, { view, range, dryRun, taken }: Operation): string | undefined {
  if (!dryRun && !containsPort(range, port)) {
    return `provided port is not in the valid range. The range of valid ports is ${formatPortRange(range)}`;
  }
  return taken.has(port) || view.isTaken(port) !== undefined ? allocated : undefined;
}

function count(scope: Scope, isTaken: boolean, { metrics, dryRun }: Operation): void {
  if (metrics === undefined || dryRun) return;
  if (isTaken) metrics.portAllocated(scope);
  else metrics.portRefused(scope);
}

function takeFree(operation: Operation): number | undefined {
  const { view, range, random, dryRun, taken, named } = operation;
  if (dryRun) {
    // One more than the highest of this write, whatever other Services have.
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
  const { pending } = view;
  const found = pickFree({ bands: portBands(range), firstFree, pending, random });
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
