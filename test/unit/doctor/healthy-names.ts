import type { HealthyCase } from './case.ts';

const web = `
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: http}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, labels: {app: web}}
spec: {containers: [{name: app, image: web:1, ports: [{name: http, containerPort: 8080}]}]}
`;
const client = (env: string, spec = ''): string => `
---
apiVersion: v1
kind: Pod
metadata: {name: client}
spec: {${spec}containers: [{name: app, image: client:1, env: [${env}]}]}
`;

/** Names, addresses and hand-made endpoints as they should be. */
export const healthyNames: readonly HealthyCase[] = [
  {
    name: 'an ExternalName outside of the cluster',
    objects: `
apiVersion: v1
kind: Service
metadata: {name: db}
spec: {type: ExternalName, externalName: my.database.example.com}
`,
  },
  {
    name: 'an ExternalName of a Service in another namespace',
    objects: `
apiVersion: v1
kind: Namespace
metadata: {name: default}
---
apiVersion: v1
kind: Service
metadata: {name: alias}
spec: {type: ExternalName, externalName: web.default.svc.cluster.local}
${web}`,
  },
  {
    name: 'a Service without a selector, and its slice',
    objects: `
apiVersion: v1
kind: Service
metadata: {name: db}
spec: {ports: [{name: pg, port: 5432}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: db-1, labels: {kubernetes.io/service-name: db}}
addressType: IPv4
ports: [{name: pg, port: 5432, protocol: TCP}]
endpoints: [{addresses: [198.51.100.20]}]
`,
  },
  {
    name: 'an unnamed port by hand',
    objects: `
apiVersion: v1
kind: Service
metadata: {name: db}
spec: {ports: [{port: 5432}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: db-1, labels: {kubernetes.io/service-name: db}}
addressType: IPv4
ports: [{name: '', port: 5432, protocol: TCP}]
endpoints: [{addresses: [198.51.100.20]}]
`,
  },
  {
    name: 'a dual-stack Service over dual-stack pods',
    objects: `
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ipFamilyPolicy: RequireDualStack, ipFamilies: [IPv4, IPv6], ports: [{port: 80}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, labels: {app: web}}
spec: {nodeName: n1, containers: [{name: app, image: web:1, ports: [{containerPort: 80}]}]}
status: {phase: Running, podIP: 10.244.0.9, podIPs: [{ip: 10.244.0.9}, {ip: 'fd44::9'}], conditions: [{type: Ready, status: 'True'}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-4, labels: {kubernetes.io/service-name: web, endpointslice.kubernetes.io/managed-by: endpointslice-controller.k8s.io}}
addressType: IPv4
ports: [{name: '', port: 80, protocol: TCP}]
endpoints: [{addresses: [10.244.0.9], nodeName: n1}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-6, labels: {kubernetes.io/service-name: web, endpointslice.kubernetes.io/managed-by: endpointslice-controller.k8s.io}}
addressType: IPv6
ports: [{name: '', port: 80, protocol: TCP}]
endpoints: [{addresses: ['fd44::9'], nodeName: n1}]
`,
  },
  {
    name: 'a load balancer with an address and ranges of its family',
    objects:
      `${web.replace('spec: {selector', 'spec: {type: LoadBalancer, loadBalancerSourceRanges: [192.0.2.0/24], selector')}`.replace(
        'targetPort: http}]}\n---',
        'targetPort: http}]}\nstatus: {loadBalancer: {ingress: [{ip: 203.0.113.4, ipMode: VIP}]}}\n---',
      ),
  },
  {
    name: 'an external IP that is routed to the nodes',
    objects: web.replace('spec: {selector', 'spec: {externalIPs: [198.51.100.9], selector'),
  },
  {
    name: 'an Ingress by port name and by number',
    objects: `${web}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: front}
spec:
  defaultBackend: {service: {name: web, port: {number: 80}}}
  rules:
    - host: shop.example
      http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {name: http}}}}]}
`,
  },
  {
    name: 'a pod that names Services in every way, and hosts outside',
    objects:
      web +
      client(
        `{name: A, value: "http://web"}, {name: B, value: "web:80"}, {name: C, value: "web.default:80"},
         {name: D, value: "https://user:secret@web.default.svc.cluster.local:80/x?y=http://web"},
         {name: E, value: "https://api.example.com./v1"}, {name: F, value: "127.0.0.1:80"},
         {name: G, value: "jdbc:postgresql://localhost:5432/x"}, {name: H, value: "warning:10"}`,
      ),
  },
  {
    name: 'a pod on the network of its node with the DNS of the cluster',
    objects:
      web +
      client(
        '{name: URL, value: "http://web/"}',
        'hostNetwork: true, dnsPolicy: ClusterFirstWithHostNet, ',
      ),
  },
  {
    name: 'variables of a Service that the pod gets',
    objects: web + client('{name: URL, value: "http://$(WEB_SERVICE_HOST):$(WEB_SERVICE_PORT)/"}'),
  },
  {
    name: 'host and port of a Service set for a program',
    objects: web + client('{name: WEB_HOST, value: web}, {name: WEB_PORT, value: "80"}'),
  },
  {
    name: 'Endpoints that hold a leader election',
    objects: `
apiVersion: v1
kind: Endpoints
metadata: {name: scheduler, annotations: {control-plane.alpha.kubernetes.io/leader: '{}'}}
`,
  },
];
