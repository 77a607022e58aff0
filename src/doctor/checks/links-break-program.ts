import type { Pod } from '../../kinds/pod/types.ts';
import type { Variables } from '../../node/environment/service-variables.ts';
import type { ClusterCheck, ClusterSymptom } from '../check.ts';
import { namespaceVariables } from '../namespace-variables.ts';
import { objectName } from '../object-names.ts';
import type { Cluster } from '../subject.ts';
import { onePodOfEach } from '../workloads.ts';

/** Programs that take such a variable for a setting of their own and do not start. Name of the image → beginning of the variable. */
const sensitivePrograms: Readonly<Record<string, string>> = {
  neo4j: 'NEO4J_',
  'cp-kafka': 'KAFKA_PORT',
  'cp-schema-registry': 'SCHEMA_REGISTRY_PORT',
  'cp-kafka-rest': 'KAFKA_REST_PORT',
  authelia: 'AUTHELIA_',
};

export const linksBreakProgram: ClusterCheck = {
  code: 'FL0801',
  severity: 'warning',
  title: 'A variable for a Service breaks the program in the pod',
  scope: 'cluster',
  needs: ['services', 'pods'],
  find(cluster) {
    return onePodOfEach(cluster).flatMap((pod) => symptoms(cluster, pod));
  },
};

function symptoms(cluster: Cluster, pod: Pod): readonly ClusterSymptom[] {
  const { namespace = '' } = pod.metadata;
  if (pod.spec.enableServiceLinks === false) return [];
  const readers = (pod.spec.containers ?? []).flatMap((container, at) =>
    isReader(container) ? [{ container, at }] : [],
  );
  if (readers.length === 0) return [];
  const variables = namespaceVariables(cluster, namespace, true);
  return readers.flatMap(({ container, at }) => {
    const name = harmful(container, variables);
    if (name === undefined) return [];
    return [
      {
        about: objectName(pod),
        message: `The pod gets ${name}=${variables[name]} because of a Service of that name, and its program is likely to read the variable as a setting of its own`,
        evidence: [
          { object: objectName(pod), field: 'spec.enableServiceLinks', value: 'true' },
          {
            object: objectName(pod),
            field: `spec.containers[${at}].image`,
            value: container.image ?? '',
          },
        ],
        fix: {
          sentence: `Set enableServiceLinks: false in the pod template, or set ${name} in its environment`,
        },
      },
    ];
  });
}

type Container = NonNullable<Pod['spec']['containers']>[number];

const isReader = ({ image = '', env = [] }: Container): boolean =>
  imageName(image) in sensitivePrograms || env.some(({ name }) => name.endsWith(hostSuffix));

const hostSuffix = '_HOST';

/** A program that is given REDIS_HOST reads REDIS_PORT as well, which is a URL where a Service is named redis. */
function harmful({ image = '', env = [] }: Container, variables: Variables): string | undefined {
  const isSet = new Set(env.map(({ name }) => name));
  const isHarmful = (name: string): boolean => name in variables && !isSet.has(name);
  const port = env
    .filter(({ name }) => name.endsWith(hostSuffix))
    .map(({ name }) => `${name.slice(0, -hostSuffix.length)}_PORT`)
    .find(isHarmful);
  const beginning = sensitivePrograms[imageName(image)];
  if (port !== undefined || beginning === undefined) return port;
  return Object.keys(variables).find((name) => name.startsWith(beginning) && isHarmful(name));
}

/** `neo4j` of `docker.io/library/neo4j:5.1@sha256:…`. */
function imageName(image: string): string {
  const last = image.split('@', 1)[0]?.split('/').at(-1) ?? '';
  return last.split(':', 1)[0] ?? '';
}
