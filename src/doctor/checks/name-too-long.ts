import { wireName } from '../../dns/wire/names.ts';
import { podHostname } from '../../node/environment/pod-hostname.ts';
import type { ServiceCheck } from '../check.ts';
import { objectName } from '../object-names.ts';

export const nameTooLong: ServiceCheck = {
  code: 'FL0506',
  severity: 'error',
  title: 'A name is longer than DNS allows',
  scope: 'service',
  needs: ['services'],
  find(subject) {
    const { service, settings, namespace, name, hasClusterIP } = subject;
    const own = `${name}.${namespace}.svc.${settings.domain.value}`;
    const below = hasClusterIP
      ? []
      : subject.pods().flatMap(({ metadata, spec }) => {
          if (spec.subdomain !== name) return [];
          const { hostname } = podHostname(
            { metadata, spec: { ...spec, setHostnameAsFQDN: false } } as never,
            settings.domain.value,
          );
          return [`${hostname}.${own}`];
        });
    const ports = (service.spec.ports ?? []).flatMap(({ name: port = '', protocol = 'TCP' }) =>
      port === '' ? [] : [`_${port}._${protocol.toLowerCase()}.${own}`],
    );
    const tooLong = [own, ...below, ...ports].filter((one) => wireName(one) === undefined);
    const [first] = tooLong;
    if (first === undefined) return [];
    return [
      {
        severity: tooLong.includes(own) || below.includes(first) ? 'error' : 'warning',
        message: `DNS cannot answer for ${first}: the name has ${first.length} characters, and 253 are allowed`,
        evidence: [
          { object: objectName(service), field: 'metadata.name', value: name },
          { object: objectName(service), field: 'cluster domain', value: settings.domain.value },
        ],
        fix: { sentence: 'Choose shorter names, or a shorter domain for the cluster' },
      },
    ];
  },
};
