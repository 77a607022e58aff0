// Manifests with the mistakes that people make most, each with the code that must come first.
import {
  client,
  daemonSet,
  deployment,
  ingress,
  manifest,
  service,
  statefulSet,
} from './manifest-objects.ts';

export type Mistake = {
  readonly name: string;
  readonly manifests: string;
  readonly code: string;
  /** Part of the message. */
  readonly says?: string;
};

const selecting = (selector: object) => service({ selector }) + deployment();
const withPort = (port: object) => service({ ports: [port] }) + deployment();
const refused = (name: string, manifests: string, says: string): Mistake => ({
  name,
  manifests,
  says,
  code: 'FL0804',
});

const selectors: readonly Mistake[] = [
  { name: 'a letter of the label is wrong', manifests: selecting({ app: 'wbe' }), code: 'FL0101' },
  { name: 'the key has another case', manifests: selecting({ App: 'web' }), code: 'FL0101' },
  {
    name: 'the key is the recommended one, the label the short one',
    manifests: selecting({ 'app.kubernetes.io/name': 'web' }),
    code: 'FL0101',
  },
  {
    name: 'one label too many',
    manifests: selecting({ app: 'web', tier: 'frontend' }),
    code: 'FL0101',
  },
  {
    name: 'the version of the last release',
    manifests:
      service({ selector: { app: 'web', version: 'v1' } }) +
      deployment({ labels: { app: 'web', version: 'v2' } }),
    code: 'FL0101',
  },
  {
    name: 'the labels of the Deployment instead of those of its template',
    manifests:
      service({ selector: { app: 'web' } }) +
      deployment({ labels: { component: 'server' } }).replace(
        '"name":"web"',
        '"name":"web","labels":{"app":"web"}',
      ),
    code: 'FL0102',
  },
  {
    name: 'the Service has a namespace, the Deployment none',
    manifests: service({}, 'web', 'shop') + deployment(),
    code: 'FL0103',
  },
  {
    name: 'the Deployment has a namespace, the Service none',
    manifests: service() + deployment({ namespace: 'shop' }),
    code: 'FL0103',
  },
  { name: 'no replicas', manifests: service() + deployment({ replicas: 0 }), code: 'FL0104' },
  {
    name: 'a label that two applications share',
    manifests:
      service({ selector: { team: 'a' } }) +
      deployment({ labels: { app: 'web', team: 'a' } }) +
      deployment({ name: 'api', labels: { app: 'api', team: 'a' } }),
    code: 'FL0107',
  },
  {
    name: 'pods of a Job besides',
    manifests:
      service() +
      deployment() +
      manifest('Job', 'batch/v1', 'migrate', {
        spec: {
          template: {
            metadata: { labels: { app: 'web' } },
            spec: { restartPolicy: 'Never', containers: [{ name: 'm', image: 'm:1' }] },
          },
        },
      }),
    code: 'FL0107',
  },
  {
    name: 'a worker with the labels of the server',
    manifests:
      service({ selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] }) +
      deployment() +
      deployment({
        name: 'worker',
        labels: { app: 'web' },
        container: { image: 'example.com/worker:1', ports: undefined },
      }),
    code: 'FL0107',
    says: 'Deployment worker',
  },
  {
    name: 'a Service twice in one file',
    manifests: service() + service({ ports: [{ port: 81, targetPort: 'http' }] }) + deployment(),
    code: 'FL0805',
  },
  {
    name: 'an empty selector',
    manifests: service({ selector: {} }) + deployment(),
    code: 'FL0702',
  },
];

const ports: readonly Mistake[] = [
  {
    name: 'a letter of the named port is wrong',
    manifests: withPort({ port: 80, targetPort: 'htpp' }),
    code: 'FL0201',
  },
  {
    name: 'the port of the container has no name',
    manifests:
      withPort({ port: 80, targetPort: 'http' }).split('---\n').slice(0, 2).join('---\n') +
      deployment({ container: { ports: [{ containerPort: 8080 }] } }),
    code: 'FL0201',
  },
  {
    name: 'another number',
    manifests: withPort({ port: 80, targetPort: 3000 }),
    code: 'FL0204',
  },
  { name: 'no target port, and another port', manifests: withPort({ port: 80 }), code: 'FL0204' },
  {
    name: 'port and target port swapped',
    manifests: withPort({ port: 8080, targetPort: 80 }),
    code: 'FL0204',
  },
  {
    name: 'the wrong protocol',
    manifests:
      service({ ports: [{ port: 53, targetPort: 53 }] }) +
      deployment({ container: { ports: [{ containerPort: 53, protocol: 'UDP' }] } }),
    code: 'FL0205',
  },
  {
    name: 'a named port of the wrong protocol',
    manifests:
      service({ ports: [{ port: 53, targetPort: 'dns' }] }) +
      deployment({ container: { ports: [{ name: 'dns', containerPort: 53, protocol: 'UDP' }] } }),
    code: 'FL0201',
  },
  {
    name: 'two containers with one port',
    manifests:
      service() +
      deployment({
        sidecars: [{ name: 'side', image: 'side:1', ports: [{ containerPort: 8080 }] }],
      }),
    code: 'FL0208',
  },
  {
    name: 'a program that listens on loopback',
    manifests: service() + deployment({ container: { args: ['--bind', '127.0.0.1:8080'] } }),
    code: 'FL0209',
  },
  {
    name: 'a headless Service that seems to translate',
    manifests:
      service({ clusterIP: 'None', ports: [{ port: 80, targetPort: 8080 }] }) + deployment(),
    code: 'FL0250',
  },
  {
    name: 'a probe of a port that is not there',
    manifests:
      service() + deployment({ container: { readinessProbe: { httpGet: { port: 'htp' } } } }),
    code: 'FL0311',
  },
  {
    name: 'a client that uses the target port',
    manifests: service() + deployment() + client({ WEB_URL: 'http://web:8080/' }),
    code: 'FL0210',
    says: 'web:8080',
  },
  {
    name: 'a client that names no port, and so port 80',
    manifests:
      service({ ports: [{ port: 8080 }] }) + deployment() + client({ WEB_URL: 'http://web/api' }),
    code: 'FL0210',
    says: 'web:80',
  },
  {
    name: 'a client with host and port in two variables',
    manifests:
      service({ ports: [{ port: 5432 }] }, 'db') +
      statefulSet({ name: 'db', container: { ports: [{ containerPort: 5432 }] } }) +
      client({ DB_HOST: 'db', DB_PORT: '5433' }),
    code: 'FL0210',
  },
];

const names: readonly Mistake[] = [
  {
    name: 'a client with a typo in the name of the Service',
    manifests: service() + deployment() + client({ WEB_HOST: 'wbe' }),
    code: 'FL0508',
  },
  {
    name: 'a client that leaves out a part of the name',
    manifests:
      service({ ports: [{ port: 6379 }] }, 'redis-master') +
      statefulSet({
        name: 'redis-master',
        spec: { serviceName: 'redis-master' },
        container: { ports: [{ containerPort: 6379 }] },
      }) +
      client({ CACHE_HOST: 'redis' }),
    code: 'FL0508',
    says: 'redis-master',
  },
  {
    name: 'a client in another namespace without the namespace',
    manifests: service() + deployment() + client({ WEB_URL: 'http://web' }, 'shop'),
    code: 'FL0507',
  },
  {
    name: 'a StatefulSet without its Service',
    manifests: service() + statefulSet({ spec: { serviceName: 'web-headless' } }),
    code: 'FL0512',
  },
  {
    name: 'an IP address as external name',
    manifests: service({ type: 'ExternalName', externalName: '192.0.2.7', ports: undefined }),
    code: 'FL0501',
  },
  {
    name: 'a short name as external name',
    manifests: service({ type: 'ExternalName', externalName: 'database', ports: undefined }),
    code: 'FL0502',
  },
  {
    name: 'ports of an ExternalName',
    manifests: service({
      type: 'ExternalName',
      externalName: 'db.example.com',
      ports: [{ port: 80, targetPort: 8080 }],
    }),
    code: 'FL0504',
  },
  {
    name: 'a pod on the network of its node that uses names',
    manifests:
      service() +
      deployment() +
      daemonSet({
        name: 'agent',
        container: { ports: [], env: [{ name: 'URL', value: 'http://web' }] },
        pod: { hostNetwork: true },
      }),
    code: 'FL0509',
  },
  {
    name: 'an Ingress of a Service with another name',
    manifests: service() + deployment() + ingress({ name: 'webb', port: { number: 80 } }),
    code: 'FL0610',
  },
  {
    name: 'an Ingress with the target port',
    manifests: service() + deployment() + ingress({ name: 'web', port: { number: 8080 } }),
    code: 'FL0611',
  },
  {
    name: 'an Ingress with the name of a port that has none',
    manifests: service() + deployment() + ingress({ name: 'web', port: { name: 'http' } }),
    code: 'FL0611',
  },
  {
    name: 'an Ingress in another namespace',
    manifests:
      service() +
      deployment() +
      service({}, 'other', 'edge') +
      deployment({ name: 'other', namespace: 'edge' }) +
      ingress({ name: 'web', port: { number: 80 } }, 'edge'),
    code: 'FL0610',
  },
];

const endpoints: readonly Mistake[] = [
  {
    name: 'no selector, and no endpoints',
    manifests: service({ selector: undefined }),
    code: 'FL0702',
  },
  {
    name: 'Endpoints of another name',
    manifests:
      service({ selector: undefined, ports: [{ port: 5432 }] }, 'postgres') +
      manifest('Endpoints', 'v1', 'postgress', {
        subsets: [{ addresses: [{ ip: '198.51.100.7' }], ports: [{ port: 5432 }] }],
      }),
    code: 'FL0702',
    says: 'postgress',
  },
  {
    name: 'a slice without its label',
    manifests:
      service({ selector: undefined, ports: [{ port: 5432 }] }, 'postgres') +
      manifest('EndpointSlice', 'discovery.k8s.io/v1', 'postgres-1', {
        addressType: 'IPv4',
        ports: [{ name: '', port: 5432 }],
        endpoints: [{ addresses: ['198.51.100.7'] }],
      }),
    code: 'FL0701',
  },
  {
    name: 'a slice with another port name',
    manifests:
      service({ selector: undefined, ports: [{ name: 'pg', port: 5432 }] }, 'postgres') +
      manifest('EndpointSlice', 'discovery.k8s.io/v1', 'postgres-1', {
        metadata: { labels: { 'kubernetes.io/service-name': 'postgres' } },
        addressType: 'IPv4',
        ports: [{ name: '', port: 5432 }],
        endpoints: [{ addresses: ['198.51.100.7'] }],
      }),
    code: 'FL0703',
  },
  {
    name: 'policy Local with the pods of a Deployment',
    manifests: service({ internalTrafficPolicy: 'Local' }) + deployment(),
    code: 'FL0401',
  },
];

const refusals: readonly Mistake[] = [
  refused(
    'several ports without names',
    service({ ports: [{ port: 80 }, { port: 443 }] }),
    'spec.ports[0].name: Required value',
  ),
  refused(
    'a node port out of range',
    service({ type: 'NodePort', ports: [{ port: 80, nodePort: 8080 }] }),
    'The range of valid ports is 30000-32767',
  ),
  refused(
    'a node port of a Service without node ports',
    service({ ports: [{ port: 80, nodePort: 30080 }] }),
    'may not be used when `type` is',
  ),
  refused(
    'one node port for two Services',
    service({ type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }] }) +
      service({ type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }] }, 'api'),
    'provided port is already allocated',
  ),
  refused('a type in lower case', service({ type: 'loadbalancer' }), 'Unsupported value'),
  refused('a headless Service in lower case', service({ clusterIP: 'none' }), 'spec.clusterIP'),
  refused(
    'a field with another case',
    service({ ports: [{ port: 80, targetport: 8080 }] }),
    'unknown field "spec.ports[0].targetport"',
  ),
  refused(
    'a port as text',
    service({ ports: [{ port: '80' }] }),
    'cannot unmarshal string into Go struct field',
  ),
  refused(
    'a label that is a number',
    service({ selector: { app: 'web', version: 1 } }),
    'cannot unmarshal number',
  ),
  refused(
    'the selector of a Deployment',
    service({ selector: { matchLabels: { app: 'web' } } }),
    'cannot unmarshal object',
  ),
  refused('an underscore in the name', service({}, 'my_web'), 'metadata.name: Invalid value'),
  refused(
    'a URL as external name',
    service({ type: 'ExternalName', externalName: 'https://db.example.com' }),
    'spec.externalName: Invalid value',
  ),
  refused(
    'policy Local of a Service that is not reached from outside',
    service({ externalTrafficPolicy: 'Local' }),
    'externalTrafficPolicy',
  ),
  refused(
    'a Deployment whose selector is not in its template',
    service() + deployment({ spec: { selector: { matchLabels: { app: 'other' } } } }),
    '`selector` does not match template `labels`',
  ),
  refused(
    'an Ingress of a version that is gone',
    service() +
      deployment() +
      manifest('Ingress', 'networking.k8s.io/v1beta1', 'web', { spec: {} }),
    'no matches for kind "Ingress"',
  ),
  refused(
    'a Deployment of a group that is gone',
    service() + manifest('Deployment', 'extensions/v1beta1', 'web', { spec: {} }),
    'no matches for kind "Deployment"',
  ),
  refused('text instead of an object', '---\n- a\n- b\n', 'an object is needed'),
  refused('broken YAML', 'apiVersion: v1\nkind: Service\nmetadata:\n  name: [a\n', 'yaml: line'),
];

export const manifestMistakes: readonly Mistake[] = [
  ...selectors,
  ...ports,
  ...names,
  ...endpoints,
  ...refusals,
];
