import type { BrokenCase } from './case.ts';

const service = (ports = '[{name: pg, port: 5432}]', name = 'db'): string => `
apiVersion: v1
kind: Service
metadata: {name: ${name}}
spec: {ports: ${ports}}
`;

type SliceText = {
  readonly labels?: string;
  readonly ports?: string;
  readonly endpoints?: string;
  readonly type?: string;
  readonly name?: string;
};

const slice = ({
  labels = '{kubernetes.io/service-name: db}',
  ports = '[{name: pg, port: 5432, protocol: TCP}]',
  endpoints = '[{addresses: [198.51.100.20]}]',
  type = 'IPv4',
  name = 'db-1',
}: SliceText = {}): string => `
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: ${name}, labels: ${labels}}
addressType: ${type}
ports: ${ports}
endpoints: ${endpoints}
`;

export const brokenEndpoints: readonly BrokenCase[] = [
  {
    name: 'a slice without the label',
    objects: service() + slice({ labels: '{app: db}' }),
    code: 'FL0701',
    fix: '{"metadata":{"labels":{"kubernetes.io/service-name":"db"}}}',
  },
  {
    name: 'a slice with a typo in the label',
    objects:
      service('[{port: 80}]', 'database') +
      slice({ labels: '{kubernetes.io/service-name: databse}' }),
    code: 'FL0701',
  },
  { name: 'no endpoints at all', objects: service(), code: 'FL0702' },
  {
    name: 'Endpoints with another name than the Service',
    objects: `${service('[{port: 5432}]', 'database')}
---
apiVersion: v1
kind: Endpoints
metadata: {name: databse}
subsets: [{addresses: [{ip: 198.51.100.20}], ports: [{port: 5432}]}]
`,
    code: 'FL0702',
    also: ['FL0708'],
  },
  {
    name: 'a slice whose port has no name',
    objects: service() + slice({ ports: "[{name: '', port: 5432, protocol: TCP}]" }),
    code: 'FL0703',
  },
  {
    name: 'a slice whose port has another protocol',
    objects: service() + slice({ ports: '[{name: pg, port: 5432, protocol: UDP}]' }),
    code: 'FL0703',
  },
  {
    name: 'the cluster IP of another Service as an endpoint',
    objects: `${service()}${slice({ endpoints: '[{addresses: [10.96.9.9]}]' })}
---
apiVersion: v1
kind: Service
metadata: {name: other}
spec: {clusterIP: 10.96.9.9, selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, labels: {app: web}}
spec: {containers: [{name: app, image: app:1}]}
`,
    code: 'FL0704',
  },
  {
    name: 'a pod address that no pod has',
    objects: `${service()}${slice({ endpoints: '[{addresses: [10.244.0.77]}]' })}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
spec: {podCIDR: 10.244.0.0/24, podCIDRs: [10.244.0.0/24]}
`,
    code: 'FL0705',
  },
  {
    name: 'a slice beside those of the controller',
    objects: `${service().replace('spec: {', 'spec: {selector: {app: db}, ')}
---
apiVersion: v1
kind: Pod
metadata: {name: db-1, labels: {app: db}}
spec: {containers: [{name: app, image: app:1}]}
${slice({ name: 'db-own', endpoints: '[{addresses: [198.51.100.20]}]' })}`,
    code: 'FL0706',
  },
  {
    name: 'Endpoints and a slice of one Service',
    objects: `${service()}${slice()}${slice({
      name: 'db-mirrored',
      labels:
        '{kubernetes.io/service-name: db, endpointslice.kubernetes.io/managed-by: endpointslicemirroring-controller.k8s.io}',
    })}`,
    code: 'FL0707',
  },
  {
    name: 'a slice of domain names',
    objects: service() + slice({ type: 'FQDN', endpoints: '[{addresses: [db.example.com]}]' }),
    code: 'FL0709',
  },
  {
    name: 'all endpoints marked as not ready',
    objects:
      service() +
      slice({ endpoints: '[{addresses: [198.51.100.20], conditions: {ready: false}}]' }),
    code: 'FL0710',
  },
];
