// Finds the rows of a name: its addresses and alias targets, before they become records of the queried type. Follows CoreDNS'
// plugin/kubernetes, so that exactly the same names exist.
import { formatAddress, parseAddress } from '../../ip/address.ts';
import { addressLabel, type PortFacts, type SliceFacts } from './facts.ts';
import type { NameRequest } from './parse-name.ts';
import type { Zone } from './zone.ts';

export const podModes = ['disabled', 'insecure', 'verified'] as const;
export type PodMode = (typeof podModes)[number];

export type Row =
  | { readonly kind: 'alias'; readonly target: string }
  | {
      readonly kind: 'address';
      readonly address: string;
      readonly port: number;
      /** The label of an endpoint below the name of its Service. */
      readonly label?: string;
    };

/** Undefined: the name does not exist. An empty list: it exists without records (NODATA). */
export function findRows(
  zone: Zone,
  request: NameRequest,
  options: { readonly pods: PodMode; readonly ignoreEmptyService: boolean },
): readonly Row[] | undefined {
  const { kind, namespace = '', name } = request;
  if (!zone.hasNamespace(namespace)) return undefined;
  if (kind === 'pod') return findPod(zone, namespace, name, options.pods);
  return name === undefined ? [] : findService(zone, { ...request, namespace, name }, options);
}

function findPod(
  zone: Zone,
  namespace: string,
  label: string | undefined,
  mode: PodMode,
): readonly Row[] | undefined {
  if (mode === 'disabled') return undefined;
  if (label === undefined) return [];
  const isIPv4 = label.split('-').length === 4 && !label.includes('--');
  const parsed = parseAddress(label.replaceAll('-', isIPv4 ? '.' : ':'));
  if (parsed === undefined) return undefined;
  const address = formatAddress(parsed);
  if (mode === 'verified' && !zone.podsAt(address).some((pod) => pod.namespace === namespace)) {
    return undefined;
  }
  // As CoreDNS: SRV records of pods have port 0, while an endpoint without ports has no SRV record.
  return [{ kind: 'address', address, port: 0 }];
}

type ServiceRequest = NameRequest & { readonly namespace: string; readonly name: string };

function findService(
  zone: Zone,
  request: ServiceRequest,
  { ignoreEmptyService }: { readonly ignoreEmptyService: boolean },
): readonly Row[] | undefined {
  const { namespace, name, endpoint, port, protocol } = request;
  const service = zone.service(namespace, name);
  if (service === undefined) return undefined;
  if (service.externalName !== undefined) {
    // An alias has no names below it; an externalName that is an address is not an alias.
    const isBare = endpoint === undefined && !port && !protocol;
    const isName = parseAddress(service.externalName) === undefined;
    return isBare && isName && service.externalName !== ''
      ? [{ kind: 'alias', target: service.externalName }]
      : undefined;
  }
  if (service.isHeadless || endpoint !== undefined) {
    const rows = endpointRows(zone.slices(namespace, name), request);
    return rows.length === 0 ? undefined : rows;
  }
  if (ignoreEmptyService && zone.slices(namespace, name).every((s) => s.addresses.length === 0)) {
    return undefined;
  }
  const ports = service.ports.filter((one) => isWanted(one, request));
  if (ports.length === 0) return undefined;
  return ports.flatMap((one) =>
    service.clusterIPs.map((address) => ({ kind: 'address', address, port: one.port }) as const),
  );
}

function endpointRows(slices: readonly SliceFacts[], request: NameRequest): readonly Row[] {
  const rows: Row[] = [];
  for (const { addresses, labels, ports, hasNames } of slices) {
    const wanted = ports.filter((one) => isWanted(one, request));
    for (const [index, address] of addresses.entries()) {
      const label = endpointLabel(labels[index], address);
      if (request.endpoint !== undefined && request.endpoint !== label) continue;
      const isName = hasNames === true && parseAddress(address) === undefined;
      for (const { port } of wanted)
        rows.push(
          isName ? { kind: 'alias', target: address } : { kind: 'address', address, port, label },
        );
    }
  }
  return rows;
}

export function endpointLabel(label: string | undefined, address: string): string {
  return label ? label.toLowerCase() : addressLabel(address);
}

function isWanted({ name, protocol }: PortFacts, request: NameRequest): boolean {
  const isPort = !request.port || request.port === name.toLowerCase();
  return isPort && (!request.protocol || request.protocol === protocol);
}
