import type { ServiceCheck } from '../check.ts';
import { serviceNamed } from '../cluster-names.ts';
import { objectName } from '../object-names.ts';

export const externalNameRelative: ServiceCheck = {
  code: 'FL0502',
  severity: 'error',
  title: 'An ExternalName is not a full domain name',
  scope: 'service',
  needs: ['services', 'namespaces'],
  explains: ['FL05'],
  find({ service, index, settings, namespace }) {
    const { type, externalName = '' } = service.spec;
    if (type !== 'ExternalName' || externalName === '') return [];
    const named = serviceNamed({ index, settings }, externalName, namespace);
    const suffix = `.svc.${settings.domain.value}`;
    const isFull = externalName.replace(/\.$/, '').endsWith(suffix);
    const isShort = !externalName.replace(/\.$/, '').includes('.') || externalName.endsWith('.svc');
    const isMeant = named?.service !== undefined && named.service !== service;
    if (isFull || !(isShort || isMeant)) return [];
    const target = objectName(service);
    const full = isMeant ? `${named.name}.${named.namespace}${suffix}` : undefined;
    return [
      {
        message: `externalName "${externalName}" is not a full name: search domains do not apply to the target of an alias, so DNS searches "${externalName}." and finds nothing`,
        evidence: [{ object: target, field: 'spec.externalName', value: externalName }],
        fix:
          full === undefined
            ? { sentence: 'Write the full name' }
            : {
                sentence: `Write the full name, ${full}`,
                patch: { target, type: 'merge', body: { spec: { externalName: full } } },
              },
      },
    ];
  },
};
