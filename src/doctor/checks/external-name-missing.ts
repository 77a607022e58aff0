import type { Service } from '../../kinds/service/types.ts';
import { objectKey } from '../../meta/object.ts';
import type { ServiceCheck, Symptom } from '../check.ts';
import { serviceNamed } from '../cluster-names.ts';
import { similarWord } from '../edit-distance.ts';
import { objectName } from '../object-names.ts';
import type { ServiceSubject } from '../subject.ts';

/** As the cluster's DNS follows them. */
const maxAliases = 8;

export const externalNameMissing: ServiceCheck = {
  code: 'FL0503',
  severity: 'error',
  title: 'An ExternalName leads to no Service of the cluster, or to itself',
  scope: 'service',
  needs: ['services', 'namespaces'],
  explains: ['FL05'],
  find(subject) {
    if (subject.service.spec.type !== 'ExternalName') return [];
    const seen = new Set<Service>();
    let service: Service = subject.service;
    for (let hop = 0; hop < maxAliases && service.spec.type === 'ExternalName'; hop += 1) {
      if (seen.has(service)) return [symptom(subject, `it leads back to ${keyOf(service)}`)];
      seen.add(service);
      const { externalName = '' } = service.spec;
      const suffix = `.svc.${subject.settings.domain.value}`;
      if (!externalName.replace(/\.$/, '').endsWith(suffix)) return [];
      const next = serviceNamed(subject, externalName, subject.namespace);
      // A name below a Service: of an endpoint or a port.
      if (next === undefined) return [];
      if (next.service === undefined) return [missing(subject, next.namespace, next.name)];
      service = next.service;
    }
    return [];
  },
};

const keyOf = ({ metadata }: Service): string => objectKey(metadata);

function missing(subject: ServiceSubject, namespace: string, name: string): Symptom {
  const names = subject.index.servicesIn(namespace).flatMap(({ metadata }) => metadata.name ?? []);
  const similar = similarWord(name, names);
  const hint = similar === undefined ? '' : `; there is "${similar}"`;
  return symptom(subject, `namespace ${namespace} has no Service "${name}"${hint}`);
}

function symptom({ service }: ServiceSubject, why: string): Symptom {
  const { externalName = '' } = service.spec;
  return {
    message: `The name does not resolve: externalName is ${externalName}, and ${why}`,
    evidence: [{ object: objectName(service), field: 'spec.externalName', value: externalName }],
    fix: { sentence: 'Name a Service that exists, or a host outside of the cluster' },
  };
}
