import { type FieldError, invalid, notSupported, required } from '../../meta/field-error.ts';
import { dns1123Label, dns1123Subdomain, portNumber, qualifiedName } from '../../meta/names.ts';
import { validateIPLegacy } from '../../meta/validate-ip.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { EndpointAddress, EndpointPort, EndpointSubset, Endpoints } from './types.ts';
import { validateEndpointIP } from './validate-endpoint-ip.ts';

export const protocols: readonly string[] = ['SCTP', 'TCP', 'UDP'];

/**
 * `before` is absent on create. Stored addresses pass even if not canonical, and unchanged subsets pass altogether: an
 * older server accepted them.
 */
export function validateEndpoints(after: Endpoints, before?: Endpoints): readonly FieldError[] {
  const stored = (before?.subsets ?? []).flatMap(allAddresses);
  const errors = (after.subsets ?? []).flatMap((subset, i) =>
    validateSubset(subset, `subsets[${i}]`, stored),
  );
  const isOld = errors.length > 0 && before !== undefined;
  return isOld && deepEqual(before.subsets, after.subsets) ? [] : errors;
}

function allAddresses(subset: EndpointSubset): readonly string[] {
  return [...(subset.addresses ?? []), ...(subset.notReadyAddresses ?? [])].map(({ ip }) => ip);
}

function validateSubset(
  subset: EndpointSubset,
  field: string,
  stored: readonly string[],
): readonly FieldError[] {
  const { addresses = [], notReadyAddresses = [], ports = [] } = subset;
  const errors: FieldError[] = [];
  if (addresses.length === 0 && notReadyAddresses.length === 0) {
    errors.push(required(field, 'must specify `addresses` or `notReadyAddresses`'));
  }
  addresses.forEach((address, i) => {
    errors.push(...validateAddress(address, `${field}.addresses[${i}]`, stored));
  });
  notReadyAddresses.forEach((address, i) => {
    errors.push(...validateAddress(address, `${field}.notReadyAddresses[${i}]`, stored));
  });
  ports.forEach((port, i) => {
    errors.push(...validatePort(port, `${field}.ports[${i}]`, ports.length > 1));
  });
  return errors;
}

function validateAddress(
  address: EndpointAddress,
  field: string,
  stored: readonly string[],
): readonly FieldError[] {
  const { ip, hostname, nodeName } = address;
  return [
    ...validateIPLegacy(`${field}.ip`, ip, stored),
    ...(hostname
      ? dns1123Label(hostname).map((detail) => invalid(`${field}.hostname`, hostname, detail))
      : []),
    ...(nodeName === undefined
      ? []
      : dns1123Subdomain(nodeName).map((detail) => invalid(`${field}.nodeName`, nodeName, detail))),
    ...validateEndpointIP(`${field}.ip`, ip),
  ];
}

function validatePort(
  port: EndpointPort,
  field: string,
  nameNeeded: boolean,
): readonly FieldError[] {
  const { name = '', protocol = '', appProtocol } = port;
  const errors: FieldError[] = [];
  if (nameNeeded && name === '') errors.push(required(`${field}.name`));
  if (name !== '') {
    errors.push(...dns1123Label(name).map((detail) => invalid(`${field}.name`, name, detail)));
  }
  errors.push(
    ...portNumber(port.port).map((detail) => invalid(`${field}.port`, port.port, detail)),
  );
  if (protocol === '') errors.push(required(`${field}.protocol`));
  else if (!protocols.includes(protocol)) {
    errors.push(notSupported(`${field}.protocol`, protocol, protocols));
  }
  if (appProtocol !== undefined) {
    const wrong = qualifiedName(appProtocol);
    errors.push(...wrong.map((detail) => invalid(`${field}.appProtocol`, appProtocol, detail)));
  }
  return errors;
}
