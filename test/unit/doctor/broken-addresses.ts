import type { BrokenCase } from './case.ts';

const pod = `
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, labels: {app: web}}
spec: {containers: [{name: app, image: app:1, ports: [{name: http, containerPort: 80}]}]}
`;
const node = `
---
apiVersion: v1
kind: Node
metadata: {name: n1}
spec: {podCIDR: 10.244.0.0/24, podCIDRs: [10.244.0.0/24]}
status: {addresses: [{type: InternalIP, address: 192.0.2.11}]}
`;

type ServiceText = { readonly name?: string; readonly more?: string };

/** Of `spec` and, after `status:`, of the status. */
function service(spec: string, { name = 'web', more = '' }: ServiceText = {}): string {
  return `
---
apiVersion: v1
kind: Service
metadata: {name: ${name}${more}}
spec: {selector: {app: web}, ports: [{name: http, port: 80}], ${spec}}
`;
}

const balanced = (spec: string, ip: string): string =>
  service(`type: LoadBalancer, externalTrafficPolicy: Cluster, ${spec}`) +
  `status: {loadBalancer: {ingress: [{ip: ${ip}, ipMode: VIP}]}}\n`;
const old = ", creationTimestamp: '2026-11-01T00:00:00Z'";

const ingress = (backend: string): string => `
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: front}
spec:
  rules:
    - host: shop.example
      http: {paths: [{path: /, pathType: Prefix, backend: {service: ${backend}}}]}
`;

export const brokenAddresses: readonly BrokenCase[] = [
  {
    name: 'nothing gives the load balancer an address',
    objects: service('type: LoadBalancer', { more: old }) + pod,
    code: 'FL0601',
  },
  {
    name: 'a class whose controller does not run',
    objects: service('type: LoadBalancer, loadBalancerClass: example.com/lb', { more: old }) + pod,
    code: 'FL0601',
  },
  {
    name: 'the address of a node as an external IP',
    objects: service('externalIPs: [192.0.2.11]') + pod + node,
    code: 'FL0602',
  },
  {
    name: 'the address of a pod as an external IP',
    objects: service('externalIPs: [10.244.0.2]') + pod,
    code: 'FL0602',
  },
  {
    name: 'the metadata service of a cloud as an external IP',
    objects: service('externalIPs: [169.254.169.254]') + pod,
    code: 'FL0602',
  },
  {
    name: 'two Services with one external address and port',
    objects:
      service('externalIPs: [198.51.100.7]') +
      service('externalIPs: [198.51.100.7]', { name: 'web2' }) +
      pod,
    code: 'FL0603',
  },
  {
    name: 'a host port among the node ports',
    objects: `${service('type: NodePort, ports: [{name: http, port: 80, nodePort: 30900}]').replace('ports: [{name: http, port: 80}], ', '')}${pod}
---
apiVersion: v1
kind: Pod
metadata: {name: exporter, namespace: monitoring}
spec: {containers: [{name: app, image: exporter:1, ports: [{containerPort: 9100, hostPort: 30900}]}]}
`,
    code: 'FL0604',
  },
  {
    name: 'node ports on a range without nodes',
    objects: `${service('type: NodePort, ports: [{name: http, port: 80, nodePort: 30900}]').replace('ports: [{name: http, port: 80}], ', '')}${pod}${node}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: kube-proxy, namespace: kube-system}
data:
  config.conf: |
    nodePortAddresses: [198.51.100.0/24]
`,
    code: 'FL0605',
  },
  {
    name: 'dual-stack Service over single-stack pods',
    objects: service('ipFamilyPolicy: RequireDualStack, ipFamilies: [IPv4, IPv6]') + pod,
    code: 'FL0606',
    fix: 'SingleStack',
  },
  {
    name: 'left to another proxy',
    objects:
      service('', { more: ', labels: {service.kubernetes.io/service-proxy-name: cilium}' }) + pod,
    code: 'FL0607',
    fix: '"service.kubernetes.io/service-proxy-name":null',
  },
  {
    name: 'source ranges of the other family',
    objects: balanced('loadBalancerSourceRanges: ["fd00::/8"]', '203.0.113.4') + pod,
    code: 'FL0608',
  },
  {
    name: 'source ranges on a Service of type ClusterIP',
    objects:
      service('', {
        more: `, annotations: {service.beta.kubernetes.io/load-balancer-source-ranges: '192.0.2.0/24'}`,
      }) + pod,
    code: 'FL0608',
  },
  {
    name: 'another address than the one requested',
    objects: balanced('loadBalancerIP: 203.0.113.9', '203.0.113.4') + pod,
    code: 'FL0609',
  },
  {
    name: 'an Ingress with a typo in the Service',
    objects: service('') + pod + ingress('{name: wbe, port: {number: 80}}'),
    code: 'FL0610',
  },
  {
    name: 'an Ingress for a Service of another namespace',
    objects: `${service('', { more: ', namespace: shop' })}${pod.replace('name: web-1', 'name: web-1, namespace: shop')}${ingress('{name: web, port: {number: 80}}')}`,
    code: 'FL0610',
  },
  {
    name: 'an Ingress with the port of the pods',
    objects: `${service('').replace('{name: http, port: 80}', '{name: http, port: 80, targetPort: 8080}')}${pod.replace('containerPort: 80', 'containerPort: 8080')}${ingress('{name: web, port: {number: 8080}}')}`,
    code: 'FL0611',
  },
];
