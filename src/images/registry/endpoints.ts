// Where an image may come from: mirrors, then its registry. Pure.
import { isLoopback, parseAddress } from '../../ip/address.ts';
import type { Reference } from '../parse-reference.ts';
import type { RegistrySettings } from '../registry-settings.ts';

export type Endpoint = {
  /** `https://registry.example:5000/v2/team/app/`, without query. */
  readonly base: string;
  /** As in names of images; credentials are for it alone. */
  readonly host: string;
  /** Mirrors serve several registries, and want to know which. */
  readonly namespace?: string;
  /** Plain HTTP is tried where TLS is not spoken, and certificates are not verified. */
  readonly isInsecure: boolean;
  readonly certificateAuthority?: string;
};

/** Docker Hub has its API elsewhere. */
const apiHosts: Readonly<Record<string, string>> = { 'docker.io': 'registry-1.docker.io' };

export function endpointsOf(
  { domain, path }: Reference,
  settings: RegistrySettings = new Map(),
): readonly Endpoint[] {
  const setting = settings.get(domain);
  const mirrors = (setting?.mirrors ?? []).map((text): Endpoint => {
    const url = new URL(text);
    const own = settings.get(url.host);
    const above = url.pathname.replace(/\/$/, '');
    return {
      base: `${url.protocol}//${url.host}${above}/v2/${path}/`,
      host: url.host,
      namespace: domain,
      isInsecure: (own?.isInsecure ?? false) || isLoopbackHost(url.host),
      ...authorityOf(own?.certificateAuthority),
    };
  });
  const host = apiHosts[domain] ?? domain;
  return [
    ...mirrors,
    {
      base: `https://${host}/v2/${path}/`,
      host: domain,
      isInsecure: (setting?.isInsecure ?? false) || isLoopbackHost(domain),
      ...authorityOf(setting?.certificateAuthority),
    },
  ];
}

const authorityOf = (certificateAuthority: string | undefined) =>
  certificateAuthority === undefined ? {} : { certificateAuthority };

/** As with Docker: nothing leaves this machine. */
function isLoopbackHost(host: string): boolean {
  const name = host.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
  const address = parseAddress(name);
  return name === 'localhost' || (address !== undefined && isLoopback(address));
}
