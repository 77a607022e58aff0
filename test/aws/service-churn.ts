// Random Services with all kinds of annotations, which are created, changed and deleted by a seed.
import { annotation } from '../../src/cloud/providers/aws/annotations.ts';
import type { Random } from '../parts/harness/random.ts';
import { exampleCertificate, lentGroups, otherCertificate } from './example-account.ts';

export type ApiRequest = {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
};

export const servicesPath = '/api/v1/namespaces/default/services';
const nodesPath = '/api/v1/nodes';

type AnnotationChoices = Readonly<Record<string, readonly [string | null, ...(string | null)[]]>>;

/** What each annotation may be; null takes it away. */
const annotationChoices: AnnotationChoices = {
  [annotation.type]: [null, 'nlb'],
  [annotation.internal]: [null, 'true'],
  [annotation.certificate]: [null, null, exampleCertificate, otherCertificate],
  [annotation.sslPorts]: [null, '80', 'p1'],
  [annotation.sslPolicy]: [null, 'ELBSecurityPolicy-TLS-1-2-2017-01'],
  [annotation.backendProtocol]: [null, 'http', 'https', 'ssl', 'tcp'],
  [annotation.proxyProtocol]: [null, '*'],
  [annotation.crossZone]: [null, 'true'],
  [annotation.idleTimeout]: [null, '5', '4000'],
  [annotation.drainingEnabled]: [null, 'true'],
  [annotation.healthInterval]: [null, '6', '300'],
  [annotation.unhealthyThreshold]: [null, '2', '10'],
  [annotation.resourceTags]: ['team=a', 'team=b', 'team='],
  [annotation.securityGroups]: [null, null, null, lentGroups[0]],
  [annotation.extraSecurityGroups]: [null, null, lentGroups[1]],
};

/** Each of them, some of the time. */
function drawAnnotations(random: Random): Readonly<Record<string, string | null>> {
  const names = Object.keys(annotationChoices).filter(() => random.below(3) === 0);
  return Object.fromEntries(
    names.map((name) => [name, random.pick(annotationChoices[name] ?? [null])]),
  );
}

function drawSpec(random: Random): object {
  const ports = Array.from({ length: 1 + random.below(2) }, (_, at) => ({
    name: `p${at}`,
    port: 80 + at + 10 * random.below(3),
    protocol: 'TCP',
  }));
  return {
    type: random.below(12) === 0 ? 'ClusterIP' : 'LoadBalancer',
    ports,
    externalTrafficPolicy: random.pick(['Cluster', 'Cluster', 'Local']),
    loadBalancerSourceRanges: random.pick([
      [],
      ['192.0.2.0/24'],
      ['192.0.2.0/24', '198.51.100.0/24'],
    ]),
  };
}

/** The API refuses policies and health check ports to other types. */
function fitting(spec: object): object {
  const { type, ...rest } = spec as { type: string; externalTrafficPolicy?: string };
  if (type === 'LoadBalancer') return spec;
  const { externalTrafficPolicy: _policy, ...others } = rest;
  return { type, ...others };
}

export function createRequest(name: string, random: Random): ApiRequest {
  const annotations = Object.fromEntries(
    Object.entries(drawAnnotations(random)).filter(([, value]) => value !== null),
  );
  const body = { metadata: { name, annotations }, spec: fitting(drawSpec(random)) };
  return { method: 'POST', path: servicesPath, body };
}

/** A Service is made, changed or deleted, or a node comes or goes. */
export function drawRequest(name: string, random: Random): ApiRequest {
  const path = `${servicesPath}/${name}`;
  switch (random.below(10)) {
    case 0:
    case 1:
      return { method: 'DELETE', path };
    case 2:
    case 3:
      return createRequest(name, random);
    case 4:
      return random.below(2) === 0
        ? { method: 'DELETE', path: `${nodesPath}/n4` }
        : nodeRequest('n4');
    default: {
      const spec = random.below(2) === 0 ? { spec: fitting(drawSpec(random)) } : {};
      const body = { metadata: { annotations: drawAnnotations(random) }, ...spec };
      return { method: 'PATCH', path, body };
    }
  }
}

export function nodeRequest(name: string): ApiRequest {
  const body = { metadata: { name }, spec: { providerID: `aws:///test-1a/i-${name}` } };
  return { method: 'POST', path: nodesPath, body };
}
