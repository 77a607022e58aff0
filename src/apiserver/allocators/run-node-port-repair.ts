// Periodically repairs node port reservations that do not agree with the Services. Safe with concurrent writers: the
// caches show one revision of the store, and every write compares the revisions that it depends on.
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

export type NodePortRepairOptions = {
  readonly context: ApiContext;
  readonly nodePorts: NodePortView;
  readonly range: PortRange;
  readonly log: Log;
  readonly metrics: MetricsRegistry;
};

/** Upstream's interval. */
const intervalMs = 180_000;
const component = 'portallocator-repair-controller';

/** Checks at once and then every few minutes. Returns how to stop, which waits for the check in progress. */
export function startNodePortRepair(options: NodePortRepairOptions): () => Promise<void> {
  const repair = createNodePortRepair(options);
  const failed = options.metrics.counter({
    name: 'apiserver_nodeport_repair_reconcile_errors_total',
    help: 'Failed checks of all node ports.',
  });
  let running = Promise.resolve();
  const check = (): void => {
    running = running.then(repair).catch((error: unknown) => {
      failed.add();
      options.log.warn('Failed to repair node ports, retrying', { error: String(error) });
    });
  };
  check();
  const timer = setInterval(check, intervalMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    return running;
  };
}

const errorTypes = {
  PortNotAllocated: 'repair',
  PortAlreadyAllocated: 'duplicate',
  PortOutOfRange: 'outOfRange',
} as const satisfies Readonly<Record<PortFinding['reason'], string>>;

/** One check. What another writer changes meanwhile is left to the next check. */
function createNodePortRepair(options: NodePortRepairOptions): () => Promise<void> {
  const { context, nodePorts, range, log, metrics } = options;
  const errors = metrics.counter({
    name: 'apiserver_nodeport_repair_port_errors_total',
    help: 'Node ports with a wrong reservation, by type of error.',
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
      log.warn('Released leaked node port', { port, service: formerOwner ?? '' });
    }
    for (const { service, reason, message } of findings) {
      errors.add({ type: errorTypes[reason] });
      await recordEvent(context, { object: service, component, type: 'Warning', reason, message });
    }
  };
}

const noChange: Transaction = { compare: [], write: [] };
const codec = createCodec(serviceDefinition);

/** Commits only while the reservation and the services that get and lose the port are unchanged. */
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
    compare: [
      { key, revision },
      ...[...services].flatMap((service) => unchanged(context, service)),
    ],
    write: [
      owner === undefined
        ? { delete: key }
        : { put: key, value: nodePortValue(objectKey(owner.metadata)) },
    ],
  };
}

/** An unreadable reservation names no service. */
function unchanged({ resources }: ApiContext, service: string): readonly Compare[] {
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
