import { parseAddressSloppy } from '../../ip/address.ts';
import { duplicate, type FieldError, invalid, required, tooMany } from '../../meta/field-error.ts';
import { dns1123Label, dns1123Subdomain, labelValue } from '../../meta/names.ts';
import { validateIPLegacy } from '../../meta/validate-ip.ts';
import { validateEndpointIP } from '../endpoints/validate-endpoint-ip.ts';
import type { Endpoint, EndpointHints } from './types.ts';

const maxAddresses = 100;
const maxHints = 8;

export type EndpointContext = {
  readonly field: string;
  readonly addressType: string;
  /** Stored addresses, which pass even if not canonical. */
  readonly stored: readonly string[];
};

export function validateEndpoint(
  endpoint: Endpoint,
  context: EndpointContext,
): readonly FieldError[] {
  const { field } = context;
  const { nodeName, hostname, hints } = endpoint;
  const addresses = endpoint.addresses ?? [];
  const errors: FieldError[] = [];
  if (addresses.length === 0) {
    errors.push(required(`${field}.addresses`, 'must contain at least 1 address'));
  }
  if (addresses.length > maxAddresses) {
    errors.push(tooMany(`${field}.addresses`, addresses.length, maxAddresses));
  }
  addresses.forEach((address, i) => {
    errors.push(...validateAddress(address, i, context));
  });
  if (nodeName !== undefined) {
    const wrong = dns1123Subdomain(nodeName);
    errors.push(...wrong.map((detail) => invalid(`${field}.nodeName`, nodeName, detail)));
  }
  if (hostname !== undefined) {
    const wrong = dns1123Label(hostname);
    errors.push(...wrong.map((detail) => invalid(`${field}.hostname`, hostname, detail)));
  }
  if (hints !== undefined) errors.push(...validateHints(hints, `${field}.hints`));
  return errors;
}

/** Addresses of an unknown type are not validated: the type itself is the error. */
function validateAddress(
  address: string,
  index: number,
  context: EndpointContext,
): readonly FieldError[] {
  const field = `${context.field}.addresses[${index}]`;
  switch (context.addressType) {
    case 'IPv4':
    case 'IPv6':
      return validateIPAddress(address, field, context);
    case 'FQDN':
      return validateDomainName(address, field);
    default:
      return [];
  }
}

function validateIPAddress(
  address: string,
  field: string,
  context: EndpointContext,
): readonly FieldError[] {
  const malformed = validateIPLegacy(field, address, context.stored);
  if (malformed.length > 0) return malformed;
  const family = context.addressType;
  return [
    // Kubernetes reports the family on the list, not on the item.
    ...(parseAddressSloppy(address)?.family === family
      ? []
      : [invalid(`${context.field}.addresses`, address, `must be an ${family} address`)]),
    ...validateEndpointIP(field, address),
  ];
}

function validateDomainName(address: string, field: string): readonly FieldError[] {
  if (address === '') return [required(field)];
  const name = address.endsWith('.') ? address.slice(0, -1) : address;
  const wrongName = dns1123Subdomain(name);
  if (wrongName.length > 0) return [invalid(field, name, wrongName.join(','))];
  const labels = name.split('.');
  if (labels.length < 2) {
    return [
      invalid(field, name, 'should be a domain with at least two segments separated by dots'),
    ];
  }
  for (const label of labels) {
    const wrongLabel = dns1123Label(label);
    if (wrongLabel.length > 0) return [invalid(field, label, wrongLabel.join(','))];
  }
  return [];
}

function validateHints(hints: EndpointHints, field: string): readonly FieldError[] {
  const { forZones = [], forNodes = [] } = hints;
  const ofZones = validateHintNames(forZones, `${field}.forZones`, labelValue);
  // Too many zones end the validation of hints.
  if (forZones.length > maxHints) return ofZones;
  return [...ofZones, ...validateHintNames(forNodes, `${field}.forNodes`, dns1123Subdomain)];
}

function validateHintNames(
  hints: readonly { readonly name: string }[],
  field: string,
  rule: (name: string) => readonly string[],
): readonly FieldError[] {
  if (hints.length > maxHints) return [tooMany(field, hints.length, maxHints)];
  const names = new Set<string>();
  return hints.flatMap(({ name }, i) => {
    const repeated = names.has(name);
    names.add(name);
    return [
      ...(repeated ? [duplicate(`${field}[${i}].name`, name)] : []),
      ...rule(name).map((detail) => invalid(`${field}[${i}].name`, name, detail)),
    ];
  });
}
