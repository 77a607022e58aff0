// What people are told of a change that concerns a balancer, before anything is done about it.
import type { Service } from '../../kinds/service/types.ts';
import { wantsBalancer } from './desired.ts';

export type Told = { readonly reason: string; readonly message: string };

/** Upstream's words, and like there only the first difference that is worth any. */
export function changeEvent(before: Service, after: Service, ownClass?: string): Told | undefined {
  const [wanted, wants] = [wantsBalancer(before, ownClass), wantsBalancer(after, ownClass)];
  if (!wanted && !wants) return undefined;
  if (wanted !== wants) return told('Type', before.spec.type, after.spec.type);
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

const difference = (reason: string, was = '', is = ''): Told | undefined =>
  was === is ? undefined : told(reason, was, is);

const checkPort = ({ healthCheckNodePort = 0 }: Service['spec']): string =>
  String(healthCheckNodePort);

/** As Go prints a list. */
const ranges = ({ loadBalancerSourceRanges = [] }: Service['spec']): string =>
  `[${loadBalancerSourceRanges.join(' ')}]`;

function externalIPEvent(was: readonly string[], is: readonly string[]): Told | undefined {
  if (was.length !== is.length)
    return { reason: 'ExternalIP', message: `Count: ${was.length} -> ${is.length}` };
  const added = is.find((ip, at) => ip !== was[at]);
  return added === undefined ? undefined : { reason: 'ExternalIP', message: `Added: ${added}` };
}

const told = (reason: string, was = '', is = ''): Told => ({ reason, message: `${was} -> ${is}` });
