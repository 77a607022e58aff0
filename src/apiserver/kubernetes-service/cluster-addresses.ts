// Names and addresses of the API servers and of Services, which no node may report as its own.
import { X509Certificate } from 'node:crypto';
import type { Address, Family } from '../../ip/address.ts';
import { formatAddress, unmapped } from '../../ip/address.ts';
import { type Cidr, containsAddress } from '../../ip/cidr.ts';
import type { Endpoints } from '../../kinds/endpoints/types.ts';
import { canonicalHost } from '../../meta/canonical-host.ts';
import type { ObjectReader } from '../cache/object-reader.ts';

export type ClusterAddresses = {
  /** Whether it is a name or address of an API server, in any spelling. */
  readonly isServerHost: (host: string) => boolean;
  /** Whether an API server listens there. */
  readonly isServer: (address: Address, port: number) => boolean;
  /** Whether it is in a range of Services. */
  readonly isServiceAddress: (address: Address) => boolean;
};

export type ClusterAddressOptions = {
  readonly reader: ObjectReader;
  /** PEM of the serving certificate. */
  readonly certificate: () => string;
  /** Where this server listens. */
  readonly port: () => number;
  /** Addresses of this machine. */
  readonly ownAddresses: () => readonly string[];
  readonly serviceRanges: (family: Family) => readonly Cidr[];
};

export function createClusterAddresses(options: ClusterAddressOptions): ClusterAddresses {
  const { reader, port, ownAddresses, serviceRanges } = options;
  const namesOf = cacheNames();
  const servers = (): Endpoints['subsets'] =>
    (reader.get('endpoints', 'default', 'kubernetes') as Endpoints | undefined)?.subsets ?? [];
  return {
    isServerHost(host) {
      const wanted = canonicalHost(host);
      const isAdvertised = (servers() ?? []).some(({ addresses = [] }) =>
        addresses.some(({ ip }) => canonicalHost(ip) === wanted),
      );
      return (
        isAdvertised || standardNames.has(wanted) || namesOf(options.certificate()).has(wanted)
      );
    },
    isServer(address, wantedPort) {
      const wanted = formatAddress(unmapped(address));
      const isAdvertised = (servers() ?? []).some(
        ({ addresses = [], ports = [] }) =>
          ports.some((one) => one.port === wantedPort) &&
          addresses.some(({ ip }) => canonicalHost(ip) === wanted),
      );
      if (isAdvertised || wantedPort !== port()) return isAdvertised;
      const own = namesOf(options.certificate());
      return own.has(wanted) || ownAddresses().some((one) => canonicalHost(one) === wanted);
    },
    isServiceAddress(address) {
      const plain = unmapped(address);
      return serviceRanges(plain.family).some((cidr) => containsAddress(cidr, plain));
    },
  };
}

/** Every API server has these, whatever its certificate says. */
const standardNames: ReadonlySet<string> = new Set([
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
]);

/** Parsing the certificate for every call would cost too much; it is rarely replaced. */
function cacheNames(): (certificate: string) => ReadonlySet<string> {
  let last: { readonly certificate: string; readonly names: ReadonlySet<string> } | undefined;
  return (certificate) => {
    if (last?.certificate !== certificate) {
      const { subjectAltName = '' } = new X509Certificate(certificate);
      const names = subjectAltName
        .split(', ')
        .map((entry) => canonicalHost(entry.replace(/^(DNS|IP Address):/, '')));
      last = { certificate, names: new Set(names) };
    }
    return last.names;
  };
}
