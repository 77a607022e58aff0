// Looks now and then whether services and node ports agree, and mends what does not. Safe while others write: the
// caches show one moment of the store, and every write names what it was decided on.
import type { PortRange } from '../../ip/port-range.ts';
import { serviceDefinition } from '../../kinds/service/definition.ts';
import type { Service } from '../../kinds/service/types.ts';
import { objectKey } from '../../meta/object.ts';
import type { Log } from '../../observe/log.ts';
import type { MetricsRegistry } from '../../observe/metrics.ts';
import type { Compare, Transaction } from '../../storage/store.ts';
import { createCodec } from '../cache/stored-object.ts';
import type { ApiContext } from '../context.ts';
import { recordEvent } from '../objects/record-event.ts';
import { type NodePortView, nodePortKey, nodePortValue } from './node-port-view.ts';
import {
  judgeNodePorts,
  type PortFinding,
  type PortLeaks,
  type PortRepair,
} from './repair-node-ports.ts';

export type KeepNodePorts = {
  readonly context: ApiContext;
  readonly nodePorts: NodePortView;
  readonly range: PortRange;
  readonly log: Log;
  readonly metrics: MetricsRegistry;
};

/** Upstream's interval. */
const everyMs = 180_000;
const component = 'portallocator-repair-controller';

/** Looks at once and then every few minutes. Returns how to end it, which waits for the look under way. */
export function startNodePortRepair(options: KeepNodePorts): () => Promise<void> {
  const repair = createNodePortRepair(options);
  const failed = options.metrics.counter({
    name: 'apiserver_nodeport_repair_reconcile_errors_total',
    help: 'Looks at all node ports that failed.',
  });
  let looking = Promise.resolve();
  const look = (): void => {
    looking = looking.then(repair).catch((error: unknown) => {
      failed.add();
      options.log.warn('cannot repair node ports', { error: String(error) });
    });
  };
  look();
  const timer = setInterval(look, everyMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    return looking;
  };
}

const errorTypes = {
  PortNotAllocated: 'repair',
  PortAlreadyAllocated: 'duplicate',
  PortOutOfRange: 'outOfRange',
} as const satisfies Readonly<Record<PortFinding['reason'], string>>;

/** One look. What another writer changes meanwhile is left to the next. */
function createNodePortRepair(options: KeepNodePorts): () => Promise<void> {
  const { context, nodePorts, range, log, metrics } = options;
  const errors = metrics.counter({
    name: 'apiserver_nodeport_repair_port_errors_total',
    help: 'Node ports found wrong, by what was wrong.',
  });
  let leaks: PortLeaks = new Map();
  return async () => {
    const verdict = judgeNodePorts({
      services: context.resources.reader.list('services') as readonly Service[],
      reservations: nodePorts.all(),
      range,
      leaks,
    });
    const { findings, repairs } = verdict;
    leaks = verdict.leaks;
    const compares = repairs.map((repair) => transactionOf(context, repair));
    for (const [index, { port, owner, formerOwner }] of repairs.entries()) {
      const { committed } = await context.store.transact(compares[index] ?? noChange);
      if (!committed || owner !== undefined) continue;
      errors.add({ type: 'leak' });
      log.warn('node port leaked, freed it', { port, service: formerOwner ?? '' });
    }
    for (const { service, reason, message } of findings) {
      errors.add({ type: errorTypes[reason] });
      await recordEvent(context, { object: service, component, type: 'Warning', reason, message });
    }
  };
}

const noChange: Transaction = { compare: [], write: [] };
const codec = createCodec(serviceDefinition);

/** Holds only while the reservation, the service that gets the port and the one that loses it are as they were judged. */
function transactionOf(
  context: ApiContext,
  { port, revision, owner, formerOwner }: PortRepair,
): Transaction {
  const key = nodePortKey(port);
  const services = new Set([
    ...(owner === undefined ? [] : [objectKey(owner.metadata)]),
    ...(formerOwner === undefined ? [] : [formerOwner]),
  ]);
  return {
    compare: [{ key, revision }, ...[...services].flatMap((service) => asItIs(context, service))],
    write: [
      owner === undefined
        ? { delete: key }
        : { put: key, value: nodePortValue(objectKey(owner.metadata)) },
    ],
  };
}

/** A reservation that nobody can read names no service. */
function asItIs({ resources }: ApiContext, service: string): readonly Compare[] {
  const [namespace = '', name = ''] = service.split('/');
  if (name === '') return [];
  const found = resources.reader.get('services', namespace, name);
  return [
    {
      key: codec.key(namespace, name),
      revision: found === undefined ? 0 : Number(found.metadata.resourceVersion),
    },
  ];
}
