import type { ServiceCheck } from '../check.ts';
import { listText, objectName } from '../object-names.ts';

export const headlessPortDiffers: ServiceCheck = {
  code: 'FL0250',
  severity: 'warning',
  title: 'A headless Service translates no ports',
  scope: 'service',
  needs: ['services'],
  find({ service }) {
    const { clusterIP, ports } = service.spec;
    if (clusterIP !== 'None') return [];
    const differing = (ports ?? []).flatMap(({ port, targetPort = port, protocol }, at) =>
      typeof targetPort === 'number' && targetPort !== 0 && targetPort !== port
        ? [{ at, port, targetPort, protocol }]
        : [],
    );
    if (differing.length === 0) return [];
    const target = objectName(service);
    const pairs = differing.map(({ port, targetPort }) => `${port} → ${targetPort}`);
    return [
      {
        message: `The Service is headless, so its ports are not translated (${listText(pairs)}): clients connect to the pods themselves, where port ${differing[0]?.port} is closed`,
        evidence: [
          { object: target, field: 'spec.clusterIP', value: 'None' },
          ...differing.map(({ at, targetPort }) => ({
            object: target,
            field: `spec.ports[${at}].targetPort`,
            value: String(targetPort),
          })),
        ],
        fix: {
          sentence: `Let clients use port ${differing[0]?.targetPort}, or give the Service a cluster IP`,
        },
      },
    ];
  },
};
