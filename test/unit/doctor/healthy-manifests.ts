// Ways to use Services that are as they should be.
import {
  client,
  daemonSet,
  deployment,
  ingress,
  manifest,
  service,
  statefulSet,
} from './manifest-objects.ts';
import type { HealthyManifests } from './project-manifests.ts';

const database = { ports: [{ name: 'pg', containerPort: 5432 }] };
const slice = (name: string, fields: object = {}): string =>
  manifest('EndpointSlice', 'discovery.k8s.io/v1', `${name}-1`, {
    metadata: { labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    ports: [{ name: '', port: 5432, protocol: 'TCP' }],
    endpoints: [{ addresses: ['198.51.100.7'], conditions: { ready: true } }],
    ...fields,
  });

export const healthyManifests: readonly HealthyManifests[] = [
  { name: 'a Deployment', manifests: service() + deployment() },
  { name: 'one replica', manifests: service() + deployment({ replicas: 1 }) },
  {
    name: 'a port number',
    manifests: service({ ports: [{ port: 80, targetPort: 8080 }] }) + deployment(),
  },
  {
    name: 'the port of the container',
    manifests: service({ ports: [{ port: 8080 }] }) + deployment(),
  },
  {
    name: 'a container that declares no ports',
    manifests:
      service({ ports: [{ port: 80, targetPort: 8080 }] }) +
      deployment({ container: { ports: undefined } }),
  },
  {
    name: 'a port that a sidecar has',
    manifests:
      service({
        ports: [
          { name: 'web', port: 80, targetPort: 'http' },
          { name: 'metrics', port: 9090, targetPort: 'metrics' },
        ],
      }) +
      deployment({
        sidecars: [
          {
            name: 'exporter',
            image: 'exporter:1',
            ports: [{ name: 'metrics', containerPort: 9090 }],
          },
        ],
      }),
  },
  {
    name: 'a sidecar that is an init container',
    manifests:
      service({ ports: [{ port: 80, targetPort: 'proxy' }] }) +
      deployment({
        pod: {
          initContainers: [
            {
              name: 'proxy',
              image: 'proxy:1',
              restartPolicy: 'Always',
              ports: [{ name: 'proxy', containerPort: 15006 }],
            },
          ],
        },
      }),
  },
  {
    name: 'TCP and UDP with one number',
    manifests:
      service({
        ports: [
          { name: 'dns', port: 53, protocol: 'UDP' },
          { name: 'dns-tcp', port: 53, protocol: 'TCP' },
        ],
      }) +
      deployment({
        container: {
          ports: [
            { name: 'dns', containerPort: 53, protocol: 'UDP' },
            { name: 'dns-tcp', containerPort: 53, protocol: 'TCP' },
          ],
        },
      }),
  },
  { name: 'node ports', manifests: service({ type: 'NodePort' }) + deployment() },
  {
    name: 'a fixed node port',
    manifests:
      service({ type: 'NodePort', ports: [{ port: 80, targetPort: 'http', nodePort: 30080 }] }) +
      deployment(),
  },
  { name: 'a load balancer', manifests: service({ type: 'LoadBalancer' }) + deployment() },
  {
    name: 'a load balancer that keeps the addresses of clients',
    manifests: service({ type: 'LoadBalancer', externalTrafficPolicy: 'Local' }) + deployment(),
  },
  {
    name: 'a load balancer with source ranges and a class',
    manifests:
      service({
        type: 'LoadBalancer',
        loadBalancerClass: 'example.com/internal',
        loadBalancerSourceRanges: ['203.0.113.0/24'],
      }) + deployment(),
  },
  {
    name: 'node ports of local pods',
    manifests: service({ type: 'NodePort', externalTrafficPolicy: 'Local' }) + daemonSet(),
  },
  {
    name: 'a load balancer with session affinity',
    manifests: service({ type: 'LoadBalancer', sessionAffinity: 'ClientIP' }) + deployment(),
  },
  { name: 'session affinity', manifests: service({ sessionAffinity: 'ClientIP' }) + deployment() },
  {
    name: 'local traffic to a DaemonSet',
    manifests: service({ internalTrafficPolicy: 'Local' }) + daemonSet(),
  },
  {
    name: 'close endpoints',
    manifests: service({ trafficDistribution: 'PreferSameZone' }) + deployment({ replicas: 6 }),
  },
  {
    name: 'both families',
    manifests: service({ ipFamilyPolicy: 'PreferDualStack' }) + deployment(),
  },
  {
    name: 'both families, IPv6 first',
    manifests:
      service({ ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6', 'IPv4'] }) + deployment(),
  },
  {
    name: 'a StatefulSet and its headless Service',
    manifests: service({ clusterIP: 'None', ports: [{ port: 8080 }] }) + statefulSet(),
  },
  {
    name: 'a StatefulSet with two Services, whose members know each other early',
    manifests:
      service(
        {
          clusterIP: 'None',
          publishNotReadyAddresses: true,
          selector: { app: 'db' },
          ports: [{ name: 'pg', port: 5432, targetPort: 'pg' }],
        },
        'db-members',
      ) +
      service({ ports: [{ port: 5432, targetPort: 'pg' }] }, 'db') +
      statefulSet({ name: 'db', container: database, spec: { serviceName: 'db-members' } }),
  },
  {
    name: 'a primary that its operator labels',
    isPart: true,
    manifests:
      service({ selector: { app: 'db', role: 'primary' }, ports: [{ port: 5432 }] }, 'db-primary') +
      manifest('PostgresCluster', 'example.com/v1', 'db', { spec: { instances: 3 } }),
  },
  {
    name: 'endpoints that an operator writes',
    isPart: true,
    manifests:
      service({ selector: undefined }, 'db') +
      manifest('PostgresCluster', 'example.com/v1', 'db', { spec: { instances: 3 } }),
  },
  {
    name: 'a headless Service without ports',
    manifests: service({ clusterIP: 'None', ports: undefined }) + statefulSet(),
  },
  {
    name: 'an ExternalName',
    manifests: service(
      {
        type: 'ExternalName',
        externalName: 'db.example.com',
        selector: undefined,
        ports: undefined,
      },
      'db',
    ),
  },
  {
    name: 'an ExternalName of a Service',
    manifests:
      service({}, 'web', 'shop') +
      deployment({ namespace: 'shop' }) +
      service(
        {
          type: 'ExternalName',
          externalName: 'web.shop.svc.cluster.local',
          selector: undefined,
          ports: undefined,
        },
        'shop',
      ),
  },
  {
    name: 'hand-made Endpoints',
    manifests:
      service({ selector: undefined, ports: [{ port: 5432 }] }, 'db') +
      manifest('Endpoints', 'v1', 'db', {
        subsets: [{ addresses: [{ ip: '198.51.100.7' }], ports: [{ port: 5432 }] }],
      }),
  },
  {
    name: 'a hand-made slice',
    manifests: service({ selector: undefined, ports: [{ port: 5432 }] }, 'db') + slice('db'),
  },
  {
    name: 'a hand-made slice with a named port of another number',
    manifests:
      service({ selector: undefined, ports: [{ name: 'pg', port: 5432 }] }, 'db') +
      slice('db', { ports: [{ name: 'pg', port: 15432, protocol: 'TCP' }] }),
  },
  {
    name: 'a headless Service of an outside database',
    manifests:
      service({ selector: undefined, clusterIP: 'None', ports: [{ port: 5432 }] }, 'db') +
      slice('db'),
  },
  {
    name: 'an Ingress by number',
    manifests: service() + deployment() + ingress({ name: 'web', port: { number: 80 } }),
  },
  {
    name: 'an Ingress by name',
    manifests:
      service({ ports: [{ name: 'web', port: 80, targetPort: 'http' }] }) +
      deployment() +
      ingress({ name: 'web', port: { name: 'web' } }),
  },
  {
    name: 'an Ingress whose Service is in other files',
    isPart: true,
    manifests: ingress({ name: 'web', port: { number: 80 } }),
  },
  { name: 'a Service whose pods are in other files', isPart: true, manifests: service() },
  {
    name: 'blue and green, the Service on blue',
    manifests:
      service({ selector: { app: 'web', slot: 'blue' } }) +
      deployment({ name: 'web-blue', labels: { app: 'web', slot: 'blue' } }) +
      deployment({ name: 'web-green', labels: { app: 'web', slot: 'green' } }),
  },
  {
    name: 'a canary beside the stable version',
    manifests:
      service({ selector: { app: 'web' } }) +
      deployment({ labels: { app: 'web', track: 'stable' } }) +
      deployment({ name: 'web-canary', replicas: 1, labels: { app: 'web', track: 'canary' } }),
  },
  {
    name: 'clients by all kinds of names',
    manifests:
      service() +
      deployment() +
      client({
        A: 'http://web',
        B: 'http://web.default:80/x?y=http://other.example.com:9999',
        C: 'web.default.svc:80',
        D: 'https://api.example.com',
        DB_HOST: 'db.example.com',
        WEB_HOST: 'web',
        WEB_PORT: '80',
        BIND_HOST: '0.0.0.0',
        IMAGE: 'registry.example.com:5000/web:1',
        RELATED_IMAGE_WEB: 'web:15',
        TIME: '12:30',
      }),
  },
  {
    name: 'members of a StatefulSet that name each other',
    manifests:
      service({ clusterIP: 'None', ports: [{ port: 2380 }] }, 'kafka', 'kafka') +
      statefulSet({
        name: 'kafka',
        namespace: 'kafka',
        container: {
          ports: [{ containerPort: 2380 }],
          env: [{ name: 'PEERS', value: 'kafka-0.kafka:2380,kafka-1.kafka:2380' }],
        },
      }),
  },
  {
    name: 'versions of one program that are images of their own',
    manifests: ['v1', 'v2', 'v3'].reduce(
      (all, version) =>
        all +
        deployment({
          name: `reviews-${version}`,
          labels: { app: 'reviews', version },
          container: { image: `example.com/reviews-${version}:1` },
        }),
      service(
        { selector: { app: 'reviews' }, ports: [{ port: 9080, targetPort: 8080 }] },
        'reviews',
      ),
    ),
  },
  {
    name: 'a Service for each pod of a StatefulSet',
    manifests:
      service({ clusterIP: 'None', ports: [{ port: 8080 }] }) +
      [0, 1]
        .map((at) =>
          service({ selector: { 'statefulset.kubernetes.io/pod-name': `web-${at}` } }, `web-${at}`),
        )
        .join('') +
      statefulSet(),
  },
  {
    name: 'a CronJob and a Job besides',
    manifests:
      service() +
      deployment() +
      manifest('CronJob', 'batch/v1', 'report', {
        spec: {
          schedule: '0 3 * * *',
          jobTemplate: {
            spec: {
              template: {
                metadata: { labels: { app: 'report' } },
                spec: { restartPolicy: 'OnFailure', containers: [{ name: 'r', image: 'r:1' }] },
              },
            },
          },
        },
      }) +
      manifest('Job', 'batch/v1', 'migrate', {
        spec: {
          template: {
            spec: { restartPolicy: 'Never', containers: [{ name: 'm', image: 'm:1' }] },
          },
        },
      }),
  },
  {
    name: 'two namespaces with equal names',
    manifests:
      service({}, 'web', 'a') +
      deployment({ namespace: 'a' }) +
      service({}, 'web', 'b') +
      deployment({ namespace: 'b' }),
  },
  {
    name: 'the API server as a Service, as a cluster has it',
    manifests:
      manifest('Service', 'v1', 'kubernetes', {
        metadata: {
          namespace: 'default',
          labels: { component: 'apiserver', provider: 'kubernetes' },
        },
        spec: { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443, targetPort: 6443 }] },
      }) +
      manifest('EndpointSlice', 'discovery.k8s.io/v1', 'kubernetes', {
        metadata: { namespace: 'default', labels: { 'kubernetes.io/service-name': 'kubernetes' } },
        addressType: 'IPv4',
        ports: [{ name: 'https', port: 6443, protocol: 'TCP' }],
        endpoints: [{ addresses: ['192.0.2.50'], conditions: { ready: true } }],
      }),
  },
  {
    name: 'the probe of a management port that is not declared',
    manifests:
      service() +
      deployment({
        container: {
          readinessProbe: { httpGet: { path: '/ready', port: 8081 } },
          livenessProbe: { tcpSocket: { port: 'http' } },
        },
      }),
  },
  {
    name: 'external addresses',
    manifests: service({ externalIPs: ['198.51.100.32'] }) + deployment(),
  },
  {
    name: 'a program on the network of its node, with cluster DNS',
    manifests:
      service() +
      deployment() +
      daemonSet({
        name: 'agent',
        container: {
          ports: [{ containerPort: 9100 }],
          env: [{ name: 'URL', value: 'http://web' }],
        },
        pod: { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' },
      }),
  },
];
