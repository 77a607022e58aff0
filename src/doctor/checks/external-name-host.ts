import type { ServiceCheck } from '../check.ts';
import { objectName } from '../object-names.ts';

const webPorts: ReadonlySet<number> = new Set([80, 443, 8080, 8443]);

export const externalNameHost: ServiceCheck = {
  code: 'FL0505',
  severity: 'info',
  title: 'HTTP through an ExternalName names the wrong host',
  scope: 'service',
  needs: ['services'],
  find({ service, settings, namespace, name }) {
    const { type, ports, externalName = '' } = service.spec;
    if (type !== 'ExternalName' || externalName.endsWith(`.${settings.domain.value}`)) return [];
    const isWeb = (ports ?? []).some(
      ({ name: portName = '', port }) => webPorts.has(port) || portName.startsWith('http'),
    );
    if (!isWeb) return [];
    return [
      {
        message: `Programs that speak HTTP send "Host: ${name}.${namespace}" to ${externalName}, and expect a certificate of that name: many servers refuse both`,
        evidence: [
          { object: objectName(service), field: 'spec.externalName', value: externalName },
        ],
        fix: { sentence: `Let clients use the name ${externalName} itself` },
      },
    ];
  },
};
