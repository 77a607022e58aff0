import type { ServiceCheck } from '../check.ts';
import { listText, objectName } from '../object-names.ts';

export const externalNamePorts: ServiceCheck = {
  code: 'FL0504',
  severity: 'warning',
  title: 'An ExternalName translates no ports',
  scope: 'service',
  needs: ['services'],
  find({ service }) {
    const { type, ports = [], externalName = '' } = service.spec;
    if (type !== 'ExternalName') return [];
    const translated = (ports ?? []).filter(
      ({ port, targetPort = port }) => targetPort !== port && targetPort !== 0,
    );
    if (translated.length === 0) return [];
    const pairs = translated.map(({ port, targetPort }) => `${port} → ${targetPort}`);
    return [
      {
        message: `The Service seems to translate ports (${listText(pairs)}), but an ExternalName is only a name: clients connect to ${externalName} at the port they name themselves`,
        evidence: translated.map(({ port, targetPort }) => ({
          object: objectName(service),
          field: `spec.ports[${port}].targetPort`,
          value: String(targetPort),
        })),
        fix: {
          sentence:
            'Let clients name the port of the target, or use a Service without a selector and an EndpointSlice',
        },
      },
    ];
  },
};
