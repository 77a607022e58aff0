// Syncs ServiceCIDRs when they or the IPAddresses in them change.

import { type ReconcileResult, startReconciler } from '../../client/reconcile.ts';
import { type ResourceClient, resourceClient } from '../../client/rest.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import { ipAddressDefinition } from '../../kinds/ip-address/definition.ts';
import { may, mayWatch } from '../../kinds/rbac/rights.ts';
import { serviceCidrDefinition } from '../../kinds/service-cidr/definition.ts';
import type { ServiceCIDR } from '../../kinds/service-cidr/types.ts';
import { isNotFound } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { Controller } from '../controller.ts';
import { hasAddress, nextStep, type ServiceCidrStep } from './desired.ts';

export const serviceCidrController: Controller = {
  name: 'service-cidr-controller',
  account: 'service-cidrs-controller',
  watches: mayWatch(serviceCidrDefinition, ipAddressDefinition),
  rights: [
    may('patch', serviceCidrDefinition),
    may('patch', serviceCidrDefinition, { subresource: 'status' }),
  ],
  async run({ caller, informers, clock, log, queueMetrics: metrics }, signal) {
    const ranges = informers.of(serviceCidrDefinition);
    const addresses = informers.of(ipAddressDefinition);
    const client = resourceClient(caller, serviceCidrDefinition);
    if (!(await waitForSync([ranges, addresses], signal))) return;

    const reconcile = async (name: string): Promise<ReconcileResult | undefined> => {
      const serviceCidr = ranges.store.get(name);
      if (serviceCidr === undefined) return;
      const step = nextStep({
        serviceCidr,
        all: ranges.store.values(),
        addresses: addresses.store.values(),
        now: clock.now(),
      });
      if (step.action === 'wait') return { retryAfterMs: step.ms };
      await carryOut(client, serviceCidr, step);
      return undefined;
    };
    const { queue, ended } = startReconciler(
      { name: 'servicecidrs', reconcile, clock, log, metrics },
      signal,
    );
    const addAll = (): void => {
      for (const name of ranges.store.keys()) queue.add(name);
    };
    const addThoseWith = ({ metadata }: KubeObject): void => {
      for (const range of ranges.store.values()) {
        const isGoing = range.metadata.deletionTimestamp !== undefined;
        if (isGoing && hasAddress(range, metadata.name ?? '')) queue.add(range.metadata.name ?? '');
      }
    };
    const stops = [
      // A range that is added or deleted may affect all others; there are few.
      ranges.onChange({ add: addAll, update: addAll, delete: addAll }),
      addresses.onChange({ add: addThoseWith, delete: addThoseWith }),
    ];
    await ended;
    for (const stop of stops) stop();
  },
};

/** Each write has the resource version: a conflict causes another sync. */
async function carryOut(
  client: ResourceClient<ServiceCIDR>,
  { metadata, status }: ServiceCIDR,
  step: ServiceCidrStep,
): Promise<void> {
  const { name = '', resourceVersion } = metadata;
  try {
    if (step.action === 'finalizers') {
      const { finalizers } = step;
      await client.patch(
        { name },
        { metadata: { resourceVersion, finalizers } },
        { type: 'merge' },
      );
    } else if (step.action === 'condition') {
      const others = (status.conditions ?? []).filter(({ type }) => type !== step.condition.type);
      const patch = {
        metadata: { resourceVersion },
        status: { conditions: [...others, step.condition] },
      };
      await client.patch({ name }, patch, { type: 'merge', subresource: 'status' });
    }
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
