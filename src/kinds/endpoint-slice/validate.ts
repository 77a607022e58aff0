import {
  duplicate,
  type FieldError,
  invalid,
  notSupported,
  required,
  tooMany,
} from '../../meta/field-error.ts';
import { dns1123Label, qualifiedName } from '../../meta/names.ts';
import { protocols } from '../endpoints/validate.ts';
import { immutableField } from '../immutable-field.ts';
import { addressTypes, type EndpointSlice, type SlicePort } from './types.ts';
import { validateEndpoint } from './validate-endpoint.ts';

const maxEndpoints = 1000;
const maxPorts = 20_000;

export function validateSliceCreate(slice: EndpointSlice): readonly FieldError[] {
  return validateSlice(slice, []);
}

export function validateSliceUpdate(
  before: EndpointSlice,
  after: EndpointSlice,
): readonly FieldError[] {
  const stored = (before.endpoints ?? []).flatMap(({ addresses }) => addresses ?? []);
  return [
    ...validateSlice(after, stored),
    ...immutableField({
      field: 'addressType',
      before: before.addressType,
      after: after.addressType,
    }),
  ];
}

/** `stored` are addresses that are already stored, which pass even if not canonical. */
function validateSlice(slice: EndpointSlice, stored: readonly string[]): readonly FieldError[] {
  const { addressType, endpoints, ports } = slice;
  return [
    ...validateAddressType(addressType),
    ...validatePorts(ports ?? []),
    ...((endpoints ?? []).length > maxEndpoints
      ? [tooMany('endpoints', (endpoints ?? []).length, maxEndpoints)]
      : (endpoints ?? []).flatMap((endpoint, i) =>
          validateEndpoint(endpoint, { field: `endpoints[${i}]`, addressType, stored }),
        )),
  ];
}

function validateAddressType(addressType: string): readonly FieldError[] {
  if (addressType === '') return [required('addressType')];
  const known: readonly string[] = addressTypes;
  return known.includes(addressType) ? [] : [notSupported('addressType', addressType, known)];
}

function validatePorts(ports: readonly SlicePort[]): readonly FieldError[] {
  if (ports.length > maxPorts) return [tooMany('ports', ports.length, maxPorts)];
  const names = new Set<string>();
  return ports.flatMap((port, i) => {
    const field = `ports[${i}]`;
    const name = port.name ?? '';
    const repeated = names.has(name);
    names.add(name);
    return [
      ...(name === ''
        ? []
        : dns1123Label(name).map((detail) => invalid(`${field}.name`, name, detail))),
      ...(repeated ? [duplicate(`${field}.name`, name)] : []),
      ...validateProtocols(port, field),
    ];
  });
}

function validateProtocols(port: SlicePort, field: string): readonly FieldError[] {
  const { protocol, appProtocol } = port;
  const errors: FieldError[] = [];
  if (protocol === undefined) errors.push(required(`${field}.protocol`));
  else if (!protocols.includes(protocol)) {
    errors.push(notSupported(`${field}.protocol`, protocol, protocols));
  }
  if (appProtocol !== undefined) {
    const wrong = qualifiedName(appProtocol);
    errors.push(...wrong.map((detail) => invalid(`${field}.appProtocol`, appProtocol, detail)));
  }
  return errors;
}
