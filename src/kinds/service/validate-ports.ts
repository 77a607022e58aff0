import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  joined,
  notSupported,
  required,
} from '../../meta/field-error.ts';
import { dns1123Label, portName, portNumber, qualifiedName } from '../../meta/names.ts';
import type { Service, ServicePort } from './types.ts';

const protocols: readonly string[] = ['SCTP', 'TCP', 'UDP'];

/** Each port, and the uniqueness of names. */
export function validatePorts(ports: readonly ServicePort[]): readonly FieldError[] {
  const names = new Set<string>();
  return joined(
    ports.map((port, index) => {
      const field = `spec.ports[${index}]`;
      return joined([
        nameErrors(port, `${field}.name`, { isAlone: ports.length === 1, names }),
        portNumber(port.port).map((detail) => invalid(`${field}.port`, port.port, detail)),
        protocolErrors(port, field),
        targetErrors(port, field),
        appProtocolErrors(port, field),
      ]);
    }),
  );
}

type Names = {
  readonly isAlone: boolean;
  /** Of the previous ports. */
  readonly names: Set<string>;
};

function nameErrors(
  { name }: ServicePort,
  field: string,
  { isAlone, names }: Names,
): readonly FieldError[] {
  if (name === undefined) return isAlone ? [] : [required(field)];
  return joined([
    dns1123Label(name).map((detail) => invalid(field, name, detail)),
    isRepeated(names, name) ? [duplicate(field, name)] : [],
  ]);
}

function protocolErrors({ protocol }: ServicePort, field: string): readonly FieldError[] {
  if (protocol === undefined) return [required(`${field}.protocol`)];
  if (protocols.includes(protocol)) return [];
  return [notSupported(`${field}.protocol`, protocol, protocols)];
}

function targetErrors({ targetPort }: ServicePort, field: string): readonly FieldError[] {
  const wrong = typeof targetPort === 'number' ? portNumber(targetPort) : portName(targetPort);
  return wrong.map((detail) => invalid(`${field}.targetPort`, targetPort, detail));
}

function appProtocolErrors({ appProtocol }: ServicePort, field: string): readonly FieldError[] {
  if (appProtocol === undefined) return [];
  const wrong = qualifiedName(appProtocol);
  return wrong.map((detail) => invalid(`${field}.appProtocol`, appProtocol, detail));
}

/** No two ports share protocol and node port, or protocol and port; a ClusterIP Service has no node ports. */
export function validatePortUse({ spec }: Service): readonly FieldError[] {
  const ports = spec.ports ?? [];
  const detail = "may not be used when `type` is 'ClusterIP'";
  const misplaced = ports.flatMap(({ nodePort }, index) =>
    spec.type === 'ClusterIP' && nodePort !== undefined
      ? [forbidden(`spec.ports[${index}].nodePort`, detail)]
      : [],
  );
  if (ports.length < 2) return misplaced;
  return joined([misplaced, repeatedNodePorts(ports), repeatedPorts(ports)]);
}

function repeatedNodePorts(ports: readonly ServicePort[]): readonly FieldError[] {
  const seen = new Set<string>();
  return ports.flatMap(({ protocol, nodePort }, index) =>
    nodePort !== undefined && isRepeated(seen, `${protocol} ${nodePort}`)
      ? [duplicate(`spec.ports[${index}].nodePort`, nodePort)]
      : [],
  );
}

function repeatedPorts(ports: readonly ServicePort[]): readonly FieldError[] {
  const seen = new Set<string>();
  return ports.flatMap(({ protocol, port }, index) => {
    if (!isRepeated(seen, `${protocol} ${port}`)) return [];
    // Messages show upstream's internal key, in Go's syntax.
    const key = {
      Name: '',
      Protocol: protocol,
      AppProtocol: null,
      Port: port,
      TargetPort: 0,
      NodePort: 0,
    };
    return [duplicate(`spec.ports[${index}]`, key)];
  });
}

function isRepeated(seen: Set<string>, key: string): boolean {
  if (seen.has(key)) return true;
  seen.add(key);
  return false;
}
