// One spelling for each host, so that hosts can be compared as text: `KUBERNETES.default.svc.` and `::ffff:a60:1` have
// other ones.
import { formatAddress, parseAddressSloppy } from '../ip/address.ts';

/** Names in lower case without trailing dot; addresses without leading zeros, IPv4-mapped ones as IPv4. */
export function canonicalHost(text: string): string {
  const address = parseAddressSloppy(text);
  if (address !== undefined) return formatAddress(address);
  const name = text.toLowerCase();
  return name.endsWith('.') ? name.slice(0, -1) : name;
}
