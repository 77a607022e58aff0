// Rejects addresses that mean something else on every node, such as loopback.
import {
  isLinkLocalMulticast,
  isLinkLocalUnicast,
  isLoopback,
  isUnspecified,
  parseAddressSloppy,
} from '../../ip/address.ts';
import { type FieldError, invalid } from '../../meta/field-error.ts';

export function validateEndpointIP(field: string, ip: string): readonly FieldError[] {
  const address = parseAddressSloppy(ip);
  if (address === undefined) return [invalid(field, ip, 'must be a valid IP address')];
  const wrong: string[] = [];
  if (isUnspecified(address)) wrong.push(`may not be unspecified (${ip})`);
  if (isLoopback(address)) wrong.push('may not be in the loopback range (127.0.0.0/8, ::1/128)');
  if (isLinkLocalUnicast(address)) {
    wrong.push('may not be in the link-local range (169.254.0.0/16, fe80::/10)');
  }
  if (isLinkLocalMulticast(address)) {
    wrong.push('may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)');
  }
  return wrong.map((detail) => invalid(field, ip, detail));
}
