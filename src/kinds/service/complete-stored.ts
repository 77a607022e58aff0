// Completes Services that were stored before clusterIPs and ipFamilies existed. Upstream:
// pkg/registry/core/service/storage/storage.go, defaultOnReadService.
import { familyOf } from '../../ip/address.ts';
import type { StoredCompletion } from '../definition.ts';
import { isSelectorless, needsClusterIP, saysHeadless } from './needs.ts';
import type { IPFamily, Service, ServiceSpec } from './types.ts';

/** ipFamilies are always stored together with the other fields. */
export const storedServiceCompletion: StoredCompletion<Service> = {
  member: 'ipFamilies',
  complete: (service, { families }) => completeStoredService(service, families),
};

type Stack = Pick<ServiceSpec, 'ipFamilies' | 'ipFamilyPolicy'>;

/** Returns the same object when nothing is missing. `families` are the cluster's, the default first. */
export function completeStoredService(service: Service, families: readonly IPFamily[]): Service {
  const { clusterIP = '', clusterIPs = [], ipFamilies = [] } = service.spec;
  if (!needsClusterIP(service) || ipFamilies.length > 0) return service;
  const addresses = clusterIPs.length > 0 ? clusterIPs : [clusterIP].filter((ip) => ip !== '');
  const stack = saysHeadless(service)
    ? headlessStack(service, families)
    : stackOf(addresses, service.spec);
  const isSame = clusterIPs.length > 0 && stack.ipFamilies === undefined;
  if (isSame || addresses.length === 0) return service;
  // A copy, so that unknown stored fields stay.
  return { ...service, spec: { ...service.spec, clusterIPs: addresses, ...stack } };
}

/** Without a selector the endpoints may have both families, whatever the cluster has. */
function headlessStack(service: Service, [first = 'IPv4']: readonly IPFamily[]): Stack {
  if (!isSelectorless(service)) return { ipFamilies: [first], ipFamilyPolicy: 'SingleStack' };
  const second = first === 'IPv4' ? 'IPv6' : 'IPv4';
  return { ipFamilies: [first, second], ipFamilyPolicy: 'RequireDualStack' };
}

function stackOf(addresses: readonly string[], { ipFamilyPolicy }: ServiceSpec): Stack {
  const ipFamilies = addresses.flatMap((address) => familyOf(address) ?? []);
  if (ipFamilies.length === 0) return {};
  const implied = ipFamilies.length === 1 ? 'SingleStack' : 'RequireDualStack';
  return { ipFamilies, ipFamilyPolicy: ipFamilyPolicy ?? implied };
}
