import type { Event } from '../../kinds/event/types.ts';
import type { Service } from '../../kinds/service/types.ts';
import type { Evidence, ServiceCheck } from '../check.ts';
import { lastEvent } from '../last-event.ts';
import { objectName } from '../object-names.ts';

/** Providers need a while; AWS takes minutes. */
const patienceMs = 60_000;
/** Of controllers that look after load balancers. */
const reasons = ['SyncLoadBalancerFailed', 'AllocationFailed', 'FailedDeployModel', 'Unsupported'];

export const loadBalancerPending: ServiceCheck = {
  code: 'FL0601',
  severity: 'error',
  title: 'The load balancer has no address',
  scope: 'service',
  needs: ['services'],
  isLiveOnly: true,
  find({ service, cluster, index }) {
    const { spec, metadata, status } = service;
    if (spec.type !== 'LoadBalancer' || metadata.deletionTimestamp !== undefined) return [];
    if ((status?.loadBalancer?.ingress ?? []).length > 0) return [];
    const event = lastEvent(index, service, { reasons });
    const isNew = cluster.nowMs - Date.parse(metadata.creationTimestamp ?? '') < patienceMs;
    if (isNew && event === undefined) return [];
    return [
      {
        message: `The Service has type LoadBalancer and no address, so clients outside do not reach it: ${reason(service, event)}`,
        evidence: evidence(service, event),
        fix: { sentence: advice(service, event) },
      },
    ];
  },
};

function reason({ spec }: Service, event: Event | undefined): string {
  if (event !== undefined) return event.message ?? event.reason ?? '';
  const { loadBalancerClass } = spec;
  return loadBalancerClass === undefined
    ? 'no controller has reported anything about it'
    : `no controller of class "${loadBalancerClass}" has reported anything about it`;
}

function advice({ spec }: Service, event: Event | undefined): string {
  if (event !== undefined) return 'Remove the cause that the controller reports';
  return spec.loadBalancerClass === undefined
    ? 'Run a controller for load balancers, such as `fairlead cloud`, or use type NodePort'
    : 'Run the controller of that class, or create the Service again without a class: the field cannot be changed';
}

function evidence(service: Service, event: Event | undefined): readonly Evidence[] {
  const object = objectName(service);
  const { loadBalancerClass } = service.spec;
  return [
    { object, field: 'status.loadBalancer.ingress', value: '(none)' },
    ...(loadBalancerClass === undefined
      ? []
      : [{ object, field: 'spec.loadBalancerClass', value: loadBalancerClass }]),
    ...(event === undefined
      ? []
      : [{ object: objectName(event), field: 'message', value: event.message ?? '' }]),
  ];
}
