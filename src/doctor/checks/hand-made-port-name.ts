import type { SlicePort } from '../../kinds/endpoint-slice/types.ts';
import type { ServiceCheck, Symptom } from '../check.ts';
import { isHandMade, isMirrored } from '../hand-made-slices.ts';
import { listText, objectName } from '../object-names.ts';
import type { ServiceSubject } from '../subject.ts';

export const handMadePortName: ServiceCheck = {
  code: 'FL0703',
  severity: 'error',
  title: 'Hand-made endpoints have another port name than the Service',
  scope: 'service',
  needs: ['services', 'endpointSlices'],
  find(subject) {
    const { service, hasSelector, hasClusterIP, endpoints } = subject;
    if (hasSelector || !hasClusterIP || endpoints().length === 0) return [];
    const ports = subject
      .slices()
      .filter((slice) => isHandMade(slice) || isMirrored(slice))
      .flatMap((slice) => slice.ports ?? []);
    return (service.spec.ports ?? []).flatMap(({ name = '', protocol = 'TCP', port }, at) => {
      const isServed = ports.some(
        (one) => (one.name ?? '') === name && (one.protocol ?? 'TCP') === protocol && one.port,
      );
      return isServed ? [] : [symptom(subject, { name, protocol, port, at }, ports)];
    });
  },
};

type Wanted = {
  readonly name: string;
  readonly protocol: string;
  readonly port: number;
  readonly at: number;
};

function symptom(
  { service, slices }: ServiceSubject,
  { name, protocol, port, at }: Wanted,
  ports: readonly SlicePort[],
): Symptom {
  const has = [...new Set(ports.map(portText))];
  const quoted = name === '' ? 'without a name' : `named "${name}"`;
  const [first] = slices();
  return {
    message: `Connections to port ${port} are refused: the endpoints have no ${protocol} port ${quoted}, they have ${listText(has) || 'none'}`,
    evidence: [
      { object: objectName(service), field: `spec.ports[${at}].name`, value: name || '(none)' },
      { object: objectName(first ?? service), field: 'ports', value: listText(has) || '(none)' },
    ],
    fix: { sentence: 'Give the port of the endpoints the name that the port of the Service has' },
  };
}

function portText({ name = '', port, protocol = 'TCP' }: SlicePort): string {
  return `${name === '' ? 'an unnamed port' : `"${name}"`} (${port ?? 'any'}/${protocol})`;
}
