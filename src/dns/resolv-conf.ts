// Parses /etc/resolv.conf: name servers and search domains.
import { parseAddress } from '../ip/address.ts';
import { type WireName, wireName } from './wire/names.ts';

export type ResolverConfig = {
  readonly servers: readonly string[];
  readonly search: readonly WireName[];
};

/** resolv.conf(5): the last `search` or `domain` wins; invalid lines are ignored, as resolvers do. */
export function parseResolverConfig(text: string): ResolverConfig {
  const servers: string[] = [];
  let search: readonly WireName[] = [];
  for (const line of text.split('\n')) {
    const [word = '', ...values] = (line.split(/[#;]/, 1)[0] ?? '').trim().split(/\s+/);
    const [first = ''] = values;
    // Keep an IPv6 zone (fe80::1%eth0): the system needs it.
    if (word === 'nameserver' && parseAddress(first.split('%', 1)[0] ?? '')) servers.push(first);
    if (word === 'search' || word === 'domain') {
      search = values.flatMap((value) => wireName(value) ?? []);
    }
  }
  return { servers, search: search.filter((name) => name !== '\0') };
}
