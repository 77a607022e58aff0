// The controller's writes to Services: both the finalizer and the status go to the status subresource (LBC-03).
import type { ResourceClient } from '../../client/rest.ts';
import type { LoadBalancerIngress, Service } from '../../kinds/service/types.ts';
import { isNotFound } from '../../meta/api-error.ts';
import { hasCleanupFinalizer } from './desired.ts';
import {
  addFinalizerPatch,
  conditionPatch,
  failedCondition,
  removeFinalizerPatch,
  statusPatch,
} from './status.ts';

export type ServiceWriter = {
  /** Return the Service after the write; undefined when it was deleted. */
  readonly addFinalizer: (service: Service) => Promise<Service | undefined>;
  readonly removeFinalizer: (service: Service) => Promise<Service | undefined>;
  readonly publish: (
    service: Service,
    ingress: readonly LoadBalancerIngress[],
    conditions?: readonly object[],
  ) => Promise<Service | undefined>;
  readonly explain: (service: Service, why: Why) => Promise<Service | undefined>;
};

export type Why = { readonly reason: string; readonly message: string; readonly time: string };

export function createServiceWriter(client: ResourceClient<Service>): ServiceWriter {
  const patch = async (service: Service, content: object): Promise<Service | undefined> => {
    const { namespace = '', name = '' } = service.metadata;
    try {
      const options = { type: 'strategic' as const, subresource: 'status' };
      return await client.patch({ namespace, name }, content, options);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };
  return {
    addFinalizer: async (service) =>
      hasCleanupFinalizer(service) ? service : patch(service, addFinalizerPatch(service)),
    removeFinalizer: async (service) =>
      hasCleanupFinalizer(service) ? patch(service, removeFinalizerPatch(service)) : service,
    async publish(service, ingress, conditions) {
      const content = statusPatch(service, ingress, conditions);
      return content === undefined ? service : patch(service, content);
    },
    async explain(service, why) {
      const condition = failedCondition(service, why);
      return condition === undefined ? service : patch(service, conditionPatch(service, condition));
    },
  };
}
