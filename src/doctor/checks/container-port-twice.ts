import type { ServiceCheck } from '../check.ts';
import { containerPortsOf, type DeclaredPort } from '../container-ports.ts';
import { listText, objectName } from '../object-names.ts';

export const containerPortTwice: ServiceCheck = {
  code: 'FL0208',
  severity: 'warning',
  title: 'Two containers of a pod declare the same port',
  scope: 'service',
  needs: ['services', 'pods'],
  find(subject) {
    const [pod] = subject.pods();
    if (pod === undefined) return [];
    const byNumber = new Map<string, DeclaredPort[]>();
    for (const port of containerPortsOf(pod)) {
      const key = `${port.number}/${port.protocol}`;
      byNumber.set(key, [...(byNumber.get(key) ?? []), port]);
    }
    return [...byNumber].flatMap(([key, ports]) => {
      const containers = [...new Set(ports.map(({ container }) => container))];
      if (containers.length < 2) return [];
      return [
        {
          message: `Containers ${listText(containers)} of the pods all declare ${key}: they share one network, so only the first can listen there`,
          evidence: [{ object: objectName(pod), field: 'spec.containers[*].ports', value: key }],
          fix: { sentence: 'Let the programs listen on different ports' },
        },
      ];
    });
  },
};
