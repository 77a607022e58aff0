import type { Pod } from '../../kinds/pod/types.ts';
import { expandVariables } from '../../node/environment/expand-variables.ts';
import type { ClusterCheck, ClusterSymptom } from '../check.ts';
import { namespaceVariables } from '../namespace-variables.ts';
import { objectName } from '../object-names.ts';
import type { Cluster } from '../subject.ts';
import { onePodOfEach } from '../workloads.ts';

/** Longer ones are scripts. */
const maxWordLength = 2000;

export const variableOfNoService: ClusterCheck = {
  code: 'FL0802',
  severity: 'error',
  title: 'A pod uses a variable of a Service that it does not get',
  scope: 'cluster',
  needs: ['services', 'pods'],
  find(cluster) {
    return onePodOfEach(cluster).flatMap((pod) => symptoms(cluster, pod));
  },
};

const serviceVariable = /\$\(([A-Z][A-Z0-9_]{0,60}_SERVICE_(?:HOST|PORT)[A-Z0-9_]{0,60})\)/;

function symptoms(cluster: Cluster, pod: Pod): readonly ClusterSymptom[] {
  const { namespace = '' } = pod.metadata;
  const words = (pod.spec.containers ?? []).flatMap(({ env = [], command = [], args = [] }, at) =>
    [...env.map(({ value = '' }) => value), ...command, ...args]
      .filter((word) => word.length <= maxWordLength && word.includes('_SERVICE_'))
      .map((word) => ({ word, at, own: new Set(env.map(({ name }) => name)) })),
  );
  if (words.length === 0) return [];
  const hasServiceLinks = pod.spec.enableServiceLinks !== false;
  const variables = namespaceVariables(cluster, namespace, hasServiceLinks);
  return words.flatMap(({ word, at, own }) => {
    const left = serviceVariable.exec(expandVariables(word, variables))?.[1];
    if (left === undefined || own.has(left)) return [];
    const why = hasServiceLinks
      ? `namespace ${namespace} has no Service with a cluster IP that gives it`
      : 'enableServiceLinks is false';
    return [
      {
        about: objectName(pod),
        message: `The pod uses $(${left}), which stays as it is written: ${why}`,
        evidence: [
          { object: objectName(pod), field: `spec.containers[${at}]`, value: word.slice(0, 100) },
        ],
        fix: {
          sentence:
            'Use the DNS name of the Service instead, which needs no variable and no order of creation',
        },
      },
    ];
  });
}
