// One spelling for each host, so that two can be compared: whoever compares text takes `KUBERNETES.default.svc.` or `::ffff:a60:1`
// for a stranger.
import { formatAddress, parseAddressSloppy } from '../ip/address.ts';

/** Names in lower case without the dot at the end; addresses without leading zeros, an IPv4 address inside IPv6 as IPv4. */
export function canonicalHost(text: string): string {
  const address = parseAddressSloppy(text);
  if (address !== undefined) return formatAddress(address);
  const name = text.toLowerCase();
  return name.endsWith('.') ? name.slice(0, -1) : name;
}
