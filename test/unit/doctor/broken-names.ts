import type { BrokenCase } from './case.ts';

type PodText = {
  readonly env?: string;
  readonly spec?: string;
  readonly name?: string;
  readonly image?: string;
};

const pod = ({ env = '', spec = '', name = 'client', image = 'client:1' }: PodText): string => `
---
apiVersion: v1
kind: Pod
metadata: {name: ${name}, labels: {app: ${name}}}
spec: {${spec}containers: [{name: app, image: "${image}", env: [${env}]}]}
`;

const service = (name: string, spec: string, namespace = 'default'): string => `
---
apiVersion: v1
kind: Service
metadata: {name: ${name}, namespace: ${namespace}}
spec: {${spec}}
`;

const namespaces = `
---
apiVersion: v1
kind: Namespace
metadata: {name: default}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
`;

/** With a pod, and so with an endpoint. */
const running = (name: string, namespace = 'default'): string =>
  service(name, `selector: {app: ${name}}, ports: [{port: 80}]`, namespace) +
  pod({ name }).replace(`name: ${name},`, `name: ${name}, namespace: ${namespace},`);

const external = (name: string, more = ''): string =>
  service('out', `type: ExternalName, externalName: ${name}${more}`);
const long = 'a'.repeat(60);

export const brokenNames: readonly BrokenCase[] = [
  { name: 'an IP address as external name', objects: external('192.0.2.5'), code: 'FL0501' },
  {
    name: 'a short name as external name',
    objects: namespaces + external('web.shop') + running('web', 'shop'),
    code: 'FL0502',
    fix: 'web.shop.svc.cluster.local',
  },
  { name: 'a single word as external name', objects: external('database'), code: 'FL0502' },
  {
    name: 'an external name with a typo',
    objects: namespaces + external('wbe.shop.svc.cluster.local') + running('web', 'shop'),
    code: 'FL0503',
  },
  {
    name: 'external names in a circle',
    objects:
      namespaces +
      external('back.default.svc.cluster.local') +
      service('back', 'type: ExternalName, externalName: out.default.svc.cluster.local'),
    code: 'FL0503',
  },
  {
    name: 'an external name that is to translate ports',
    objects: external('db.example.com', ', ports: [{port: 5432, targetPort: 15432}]'),
    code: 'FL0504',
  },
  {
    name: 'a name that is too long for DNS',
    objects: `${service('web', 'selector: {app: web}, ports: [{port: 80}]')}${pod({ name: 'web' })}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: coredns, namespace: kube-system}
data: {Corefile: "kubernetes ${long}.${long}.${long}.${long} in-addr.arpa"}
`,
    code: 'FL0506',
  },
  {
    name: 'a host of another namespace',
    objects: pod({ env: '{name: URL, value: "http://web:80/x"}' }) + running('web', 'shop'),
    code: 'FL0507',
  },
  {
    name: 'a host with a typo in the Service',
    objects:
      namespaces + pod({ env: '{name: DB, value: "wbe.shop.svc:5432"}' }) + running('web', 'shop'),
    code: 'FL0508',
  },
  {
    name: 'a pod on the network of its node that names a Service',
    objects:
      namespaces +
      pod({
        env: '{name: URL, value: "http://web.shop/x"}',
        spec: 'hostNetwork: true, dnsPolicy: ClusterFirst, ',
      }) +
      running('web', 'shop'),
    code: 'FL0509',
  },
  {
    name: 'the DNS of the cluster without endpoints',
    objects: `${service('kube-dns', 'clusterIP: 10.96.0.10, selector: {k8s-app: kube-dns}, ports: [{name: dns, port: 53, protocol: UDP}]', 'kube-system')}
---
apiVersion: v1
kind: Pod
metadata: {name: coredns-1, namespace: kube-system, labels: {k8s-app: kube-dns}}
spec: {nodeName: n1, containers: [{name: dns, image: coredns:1, ports: [{name: dns, containerPort: 53, protocol: UDP}]}]}
status: {phase: Running, conditions: [{type: Ready, status: 'False'}], containerStatuses: [{name: dns, ready: false, restartCount: 0, image: coredns:1, imageID: x, state: {running: {}}}]}
`,
    code: 'FL0511',
    also: ['FL0310'],
  },
  {
    name: 'a headless Service that is to translate its port',
    objects:
      service('db', 'clusterIP: None, selector: {app: db}, ports: [{port: 80, targetPort: 8080}]') +
      pod({ name: 'db' }),
    code: 'FL0250',
  },
  {
    name: 'REDIS_PORT of a Service beside REDIS_HOST of the pod',
    objects: running('redis') + pod({ env: '{name: REDIS_HOST, value: redis}' }),
    code: 'FL0801',
  },
  {
    name: 'a program that does not start with variables of a Service',
    objects:
      service('neo4j', 'selector: {app: neo4j}, ports: [{port: 7687}]') +
      pod({ name: 'neo4j', image: 'docker.io/library/neo4j:5.1' }),
    code: 'FL0801',
  },
  {
    name: 'a variable of a Service in another namespace',
    objects:
      pod({ env: '{name: URL, value: "http://$(WEB_SERVICE_HOST)/"}' }) + running('web', 'shop'),
    code: 'FL0802',
  },
];
