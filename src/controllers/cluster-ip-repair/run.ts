// Checks Services and IPAddresses when they change, and all of them every few minutes.

import { createEventRecorder } from '../../client/event-recorder.ts';
import type { Informer } from '../../client/informer.ts';
import { type ReconcileResult, startReconciler } from '../../client/reconcile.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import type { Clock } from '../../host/clock.ts';
import { parseCidr } from '../../ip/cidr.ts';
import { ipAddressDefinition } from '../../kinds/ip-address/definition.ts';
import type { IPAddress } from '../../kinds/ip-address/types.ts';
import { may, mayRecordEvents, mayWatch } from '../../kinds/rbac/rights.ts';
import { serviceDefinition } from '../../kinds/service/definition.ts';
import type { Service } from '../../kinds/service/types.ts';
import { serviceCidrDefinition } from '../../kinds/service-cidr/definition.ts';
import { objectKey } from '../../meta/object.ts';
import type { Controller } from '../controller.ts';
import { repairAddress, repairService } from './apply.ts';
import { addressNamesOf, judgeAddress, judgeService, serviceKeyOf } from './desired.ts';
import { createRepairMetrics } from './metrics.ts';

const concurrency = 5;
const maxRetries = 15;
const backOff = { firstMs: 5, maxMs: 82_000 };
const resyncMs = 180_000;
/** Services and IPAddresses arrive on different watches, so they are compared after a moment. */
const settleMs = 1000;

/** Keys of one queue: Services as `namespace/name`, IPAddresses with a prefix. */
const addressPrefix = 'address ';

export const clusterIpRepair: Controller = {
  name: 'cluster-ip-repair',
  account: 'allocator-repair',
  watches: mayWatch(serviceDefinition, ipAddressDefinition, serviceCidrDefinition),
  rights: [
    may('get', serviceDefinition),
    may('create delete get', ipAddressDefinition),
    mayRecordEvents,
  ],
  async run(parts, signal) {
    const { caller, informers, clock, log, queueMetrics: metrics } = parts;
    const counts = createRepairMetrics(parts.metrics);
    const services = informers.of(serviceDefinition);
    const addresses = informers.of(ipAddressDefinition);
    const cidrs = informers.of(serviceCidrDefinition);
    if (!(await waitForSync([services, addresses, cidrs], signal))) return;
    const component = 'ipallocator-repair-controller';
    const recorder = createEventRecorder({ caller, component, clock, log });
    const ranges = () =>
      [...cidrs.store.values()].flatMap(({ spec }) =>
        (spec.cidrs ?? []).flatMap((text) => parseCidr(text) ?? []),
      );
    const task = () => ({ caller, recorder, counts, ranges: ranges(), now: clock.now() });

    const checkService = async (key: string): Promise<undefined> => {
      const service = services.store.get(key);
      if (service === undefined) return;
      const findings = judgeService({
        service,
        ranges: ranges(),
        addressNamed: (name) => addresses.store.get(name),
        serviceNamed: (name) => services.store.get(name),
      });
      if (findings.length > 0) await repairService(task(), service);
    };
    const checkAddress = async (name: string): Promise<ReconcileResult | undefined> => {
      const address = addresses.store.get(name);
      if (address === undefined) return undefined;
      const service = services.store.get(serviceKeyOf(address) ?? '');
      const verdict = judgeAddress({ address, service, now: clock.now() });
      if (verdict.action === 'none') return undefined;
      const ms = verdict.action === 'wait' ? verdict.ms : await repairAddress(task(), name);
      return ms === undefined ? undefined : { retryAfterMs: ms };
    };
    const check = (key: string): Promise<ReconcileResult | undefined> =>
      key.startsWith(addressPrefix)
        ? checkAddress(key.slice(addressPrefix.length))
        : checkService(key);
    const reconcile = (key: string): Promise<ReconcileResult | undefined> =>
      check(key).catch((error: unknown) => {
        counts.failed();
        throw error;
      });
    const { queue, ended } = startReconciler(
      { name: 'ipaddresses', reconcile, clock, log, metrics, concurrency, maxRetries, backOff },
      signal,
    );
    const stops = [
      ...follow(services, addresses, (key) => queue.addAfter(key, settleMs)),
      repeat(clock, resyncMs, () => {
        for (const key of services.store.keys()) queue.add(key);
        for (const name of addresses.store.keys()) queue.add(addressPrefix + name);
      }),
    ];
    await ended;
    for (const stop of stops) stop();
  },
};

function follow(
  services: Informer<Service>,
  addresses: Informer<IPAddress>,
  add: (key: string) => void,
): readonly (() => void)[] {
  const addService = ({ metadata }: Service): void => add(objectKey(metadata));
  const addAddress = ({ metadata }: IPAddress): void => add(addressPrefix + (metadata.name ?? ''));
  const addBoth = (address: IPAddress): void => {
    addAddress(address);
    const key = serviceKeyOf(address);
    if (key !== undefined) add(key);
  };
  /** Addresses that the Service has or had may have become orphans. */
  const addWithAddresses = (service: Service): void => {
    addService(service);
    for (const name of addressNamesOf(service)) add(addressPrefix + name);
  };
  return [
    services.onChange({
      add: addService,
      update: (before, after) => {
        addWithAddresses(before);
        addService(after);
      },
      delete: addWithAddresses,
    }),
    addresses.onChange({
      add: addAddress,
      update: (_before, after) => addBoth(after),
      // The Service that refers to this address may need it again.
      delete: addBoth,
    }),
  ];
}

function repeat(clock: Clock, ms: number, run: () => void): () => void {
  let cancel = clock.after(ms, next);
  function next(): void {
    run();
    cancel = clock.after(ms, next);
  }
  return () => cancel();
}
