// Maps names of the reverse zones to addresses, and addresses to names.
import { addressBits, formatAddress } from '../../ip/address.ts';
import type { WireName } from '../wire/names.ts';
import { endpointLabel } from './find-rows.ts';
import type { Zone } from './zone.ts';

export const reverseIPv4: WireName = '\x07in-addr\x04arpa\0';
export const reverseIPv6: WireName = '\x03ip6\x04arpa\0';

/** The address that the labels before a reverse zone encode, in reverse order; undefined for other labels. */
export function reversedAddress(zone: WireName, labels: readonly string[]): string | undefined {
  if (zone === reverseIPv4) {
    if (labels.length !== 4 || !labels.every(isOctet)) return undefined;
    return [...labels].reverse().join('.');
  }
  if (labels.length !== addressBits('IPv6') / 4 || !labels.every(isNibble)) return undefined;
  const value = BigInt(`0x${[...labels].reverse().join('')}`);
  return formatAddress({ family: 'IPv6', value });
}

/** The names of an address, as labels before the cluster's domain. A cluster IP takes precedence over endpoints. */
export function namesOfAddress(zone: Zone, address: string): readonly (readonly string[])[] {
  const service = zone.serviceAt(address);
  if (service !== undefined && zone.hasNamespace(service.namespace))
    return [[service.name, service.namespace, 'svc']];
  const names = new Map<string, readonly string[]>();
  for (const slice of zone.slicesAt(address)) {
    if (!zone.hasNamespace(slice.namespace)) continue;
    for (const [index, one] of slice.addresses.entries()) {
      if (one !== address) continue;
      const name = [
        endpointLabel(slice.labels[index], address),
        slice.service,
        slice.namespace,
        'svc',
      ];
      names.set(name.join('.'), name);
    }
  }
  return [...names.values()];
}

function isOctet(label: string): boolean {
  return /^(?:0|[1-9][0-9]{0,2})$/.test(label) && Number(label) <= 255;
}

function isNibble(label: string): boolean {
  return /^[0-9a-f]$/.test(label);
}
