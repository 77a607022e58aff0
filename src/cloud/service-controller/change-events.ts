// Events about changes of a Service that affect its load balancer.
import type { Service } from '../../kinds/service/types.ts';
import { wantsBalancer } from './desired.ts';

export type ChangeEvent = { readonly reason: string; readonly message: string };

/** Upstream's messages, and as upstream only for the first difference. */
export function changeEvent(
  before: Service,
  after: Service,
  ownClass?: string,
): ChangeEvent | undefined {
  const [wanted, wants] = [wantsBalancer(before, ownClass), wantsBalancer(after, ownClass)];
  if (!wanted && !wants) return undefined;
  if (wanted !== wants) return toEvent('Type', before.spec.type, after.spec.type);
  const [was, is] = [before.spec, after.spec];
  return (
    difference('LoadBalancerSourceRanges', ranges(was), ranges(is)) ??
    difference('LoadbalancerIP', was.loadBalancerIP, is.loadBalancerIP) ??
    externalIPEvent(was.externalIPs ?? [], is.externalIPs ?? []) ??
    difference('UID', before.metadata.uid, after.metadata.uid) ??
    difference('ExternalTrafficPolicy', was.externalTrafficPolicy, is.externalTrafficPolicy) ??
    difference('HealthCheckNodePort', checkPort(was), checkPort(is))
  );
}

const difference = (reason: string, was = '', is = ''): ChangeEvent | undefined =>
  was === is ? undefined : toEvent(reason, was, is);

const checkPort = ({ healthCheckNodePort = 0 }: Service['spec']): string =>
  String(healthCheckNodePort);

/** Formats a list as Go does. */
const ranges = ({ loadBalancerSourceRanges = [] }: Service['spec']): string =>
  `[${loadBalancerSourceRanges.join(' ')}]`;

function externalIPEvent(was: readonly string[], is: readonly string[]): ChangeEvent | undefined {
  if (was.length !== is.length)
    return { reason: 'ExternalIP', message: `Count: ${was.length} -> ${is.length}` };
  const added = is.find((ip, at) => ip !== was[at]);
  return added === undefined ? undefined : { reason: 'ExternalIP', message: `Added: ${added}` };
}

const toEvent = (reason: string, was = '', is = ''): ChangeEvent => ({
  reason,
  message: `${was} -> ${is}`,
});
