// Carries out repairs. Each decision from the informers' cache is made again on what the server returns, and each write
// has the UID or version as precondition, so that concurrent writers are safe.
import type { ApiCaller } from '../../client/api-call.ts';
import type { EventRecorder, RecordedEvent } from '../../client/event-recorder.ts';
import { type ResourceClient, resourceClient } from '../../client/rest.ts';
import type { Cidr } from '../../ip/cidr.ts';
import { ipAddressDefinition } from '../../kinds/ip-address/definition.ts';
import type { IPAddress } from '../../kinds/ip-address/types.ts';
import { serviceDefinition } from '../../kinds/service/definition.ts';
import type { Service } from '../../kinds/service/types.ts';
import { isAlreadyExists, isNotFound } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import {
  addressNamesOf,
  type Finding,
  judgeAddress,
  judgeService,
  type ServiceFinding,
  serviceKeyOf,
} from './desired.ts';
import type { RepairMetrics } from './metrics.ts';

export type RepairTask = {
  readonly caller: ApiCaller;
  readonly recorder: EventRecorder;
  readonly counts: RepairMetrics;
  readonly ranges: readonly Cidr[];
  readonly now: number;
};

export async function repairService(task: RepairTask, cached: Service): Promise<void> {
  const { caller, recorder, counts, ranges } = task;
  const service = await readService(
    caller,
    cached.metadata.namespace ?? '',
    cached.metadata.name ?? '',
  );
  if (service === undefined || service.metadata.uid !== cached.metadata.uid) return;
  const addresses = resourceClient(caller, ipAddressDefinition);
  const live = await readAll(service, (name) => readOrNothing(() => addresses.get({ name })));
  const parents = await readParents(caller, live);
  const findings = judgeService({
    service,
    ranges,
    addressNamed: (name) => live.get(name),
    serviceNamed: (key) => parents.get(key),
  });
  for (const finding of findings) {
    counts.found(finding.reason);
    if (finding.withoutEvent !== true)
      recorder.record(service, warning(finding, 'ClusterIPAllocation'));
    if (finding.repair !== undefined) await repair(addresses, finding.repair);
  }
}

function warning({ reason, message }: Finding, action: string): RecordedEvent {
  return { type: 'Warning', reason, message, action };
}

async function repair(
  addresses: ResourceClient<IPAddress>,
  { make, replace }: NonNullable<ServiceFinding['repair']>,
): Promise<void> {
  if (replace !== undefined) await remove(addresses, replace);
  try {
    await addresses.create(make);
  } catch (error) {
    // Changed concurrently; the next check decides anew.
    if (!isAlreadyExists(error)) throw error;
  }
}

/** Returns how long to wait before the address can be judged, if it is too early. */
export async function repairAddress(task: RepairTask, name: string): Promise<number | undefined> {
  const { caller, recorder, counts, now } = task;
  const addresses = resourceClient(caller, ipAddressDefinition);
  const address = await readOrNothing(() => addresses.get({ name }));
  if (address === undefined) return undefined;
  const service = await readParent(caller, address);
  const verdict = judgeAddress({ address, service, now });
  if (verdict.action === 'wait') return verdict.ms;
  if (verdict.action === 'none') return undefined;
  counts.found(verdict.reason);
  recorder.record(address, warning(verdict, 'IPAddressAllocation'));
  await remove(addresses, address);
  return undefined;
}

async function remove(
  addresses: ResourceClient<IPAddress>,
  { metadata }: IPAddress,
): Promise<void> {
  const { name = '', uid = '', resourceVersion = '' } = metadata;
  try {
    await addresses.delete({ name }, { preconditions: { uid, resourceVersion } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

async function readAll(
  service: Service,
  read: (name: string) => Promise<IPAddress | undefined>,
): Promise<ReadonlyMap<string, IPAddress>> {
  const found = new Map<string, IPAddress>();
  for (const name of addressNamesOf(service)) {
    const address = await read(name);
    if (address !== undefined) found.set(address.metadata.name ?? '', address);
  }
  return found;
}

async function readParents(
  caller: ApiCaller,
  addresses: ReadonlyMap<string, IPAddress>,
): Promise<ReadonlyMap<string, Service>> {
  const parents = new Map<string, Service>();
  for (const address of addresses.values()) {
    const service = await readParent(caller, address);
    const key = serviceKeyOf(address);
    if (service !== undefined && key !== undefined) parents.set(key, service);
  }
  return parents;
}

async function readParent(caller: ApiCaller, address: IPAddress): Promise<Service | undefined> {
  if (serviceKeyOf(address) === undefined) return undefined;
  const { namespace = '', name = '' } = address.spec.parentRef ?? {};
  return readService(caller, namespace, name);
}

function readService(
  caller: ApiCaller,
  namespace: string,
  name: string,
): Promise<Service | undefined> {
  return readOrNothing(() => resourceClient(caller, serviceDefinition).get({ namespace, name }));
}

async function readOrNothing<T extends KubeObject>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
