// The NS records of the cluster's domain: the Services that this server is an endpoint of, otherwise its own addresses.
import { joinName, type WireName } from '../wire/names.ts';
import { endpointLabel } from './find-rows.ts';
import type { Zone } from './zone.ts';

export type NameServer = { readonly name: WireName; readonly address: string };

export function nameServers(
  zone: Zone,
  apex: WireName,
  { ownAddresses }: { readonly ownAddresses: readonly string[] },
): readonly NameServer[] {
  const slices = ownAddresses
    .flatMap((address) => zone.slicesAt(address))
    .filter(({ hasNames }) => hasNames === undefined);
  if (slices.length === 0) {
    const name = joinName(['ns', 'dns'], apex) ?? apex;
    return ownAddresses.map((address) => ({ name, address }));
  }
  const servers = new Map<string, NameServer>();
  for (const { namespace, service: serviceName, addresses, labels } of slices) {
    const service = zone.service(namespace, serviceName);
    const name = joinName([serviceName, namespace, 'svc'], apex);
    if (service === undefined || name === undefined) continue;
    const found = service.isHeadless
      ? addresses.map((address, index) => ({
          name: joinName([endpointLabel(labels[index], address)], name) ?? name,
          address,
        }))
      : service.clusterIPs.map((address) => ({ name, address }));
    for (const server of found) servers.set(`${server.name}${server.address}`, server);
  }
  return [...servers.values()];
}
