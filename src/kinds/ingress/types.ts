import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { must, typedLocalObjectReference } from '../pod/references.ts';

const serviceBackendPort = s.struct(
  'ServiceBackendPort',
  {
    name: s.string('Name of the port in the service.'),
    number: s.int32('Number of the port in the service.'),
  },
  { mapType: 'atomic', numbers: [1, 2] },
);

const backend = s.struct(
  'IngressBackend',
  {
    service: s.pointer(
      s.struct(
        'IngressServiceBackend',
        {
          name: must(s.string('Name of the service, in the same namespace.')),
          port: s.described(serviceBackendPort, 'Port of the service.'),
        },
        { numbers: [1, 2] },
      ),
      'A service takes the requests.',
    ),
    resource: s.pointer(typedLocalObjectReference, 'Another object takes the requests.'),
  },
  { numbers: [4, 3] },
);
export type IngressBackend = s.Static<typeof backend>;

const path = s.struct(
  'HTTPIngressPath',
  {
    path: s.string('Path of the requests.'),
    pathType: s.required(s.pointer(s.string('Exact, Prefix or ImplementationSpecific.'))),
    backend: must(s.described(backend, 'Who takes the requests.')),
  },
  { numbers: [1, 3, 2] },
);
export type IngressPath = s.Static<typeof path>;

const rule = s.struct(
  'IngressRule',
  {
    host: s.string('Host name of the requests; any when empty.'),
    http: s.pointer(
      s.struct(
        'HTTPIngressRuleValue',
        {
          paths: must(s.list(path, 'Backends by path.', { listType: 'atomic' })),
        },
        { numbers: [1] },
      ),
      'Backends by path.',
    ),
  },
  { numbers: [1, [2, 1]] },
);
export type IngressRule = s.Static<typeof rule>;

const tls = s.struct(
  'IngressTLS',
  {
    hosts: s.list(s.string(), 'Host names in the certificate.', { listType: 'atomic' }),
    secretName: s.string('Secret with the certificate.'),
  },
  { numbers: [1, 2] },
);
export type IngressTls = s.Static<typeof tls>;

const spec = s.struct(
  'IngressSpec',
  {
    ingressClassName: s.pointer(s.string('Class that says who serves this ingress.')),
    defaultBackend: s.pointer(backend, 'Who takes requests that no rule matches.'),
    tls: s.list(tls, 'Certificates by host.', { listType: 'atomic' }),
    rules: s.list(rule, 'Backends by host.', { listType: 'atomic' }),
  },
  { numbers: [4, 1, 2, 3] },
);
export type IngressSpec = s.Static<typeof spec>;

const portStatus = s.struct(
  'IngressPortStatus',
  {
    port: must(s.int32('Number of the port.')),
    protocol: must(s.string('TCP, UDP or SCTP.')),
    error: s.pointer(s.string('What is wrong with the port.')),
  },
  { numbers: [1, 2, 3] },
);

const loadBalancerIngress = s.struct(
  'IngressLoadBalancerIngress',
  {
    ip: s.string('Address.'),
    hostname: s.string('Host name.'),
    ports: s.list(portStatus, 'State of each port.', { listType: 'atomic' }),
  },
  { numbers: [1, 2, 4] },
);

const status = s.struct(
  'IngressStatus',
  {
    loadBalancer: s.struct(
      'IngressLoadBalancerStatus',
      { ingress: s.list(loadBalancerIngress, 'Ways in.', { listType: 'atomic' }) },
      { description: 'The load balancer of the ingress.', numbers: [1] },
    ),
  },
  { numbers: [1] },
);

export const ingressSchema = s.struct(
  'Ingress',
  {
    ...objectFields,
    spec: s.described(spec, 'The wanted state.'),
    status: s.described(status, 'The state as last observed.'),
  },
  {
    description: 'Leads HTTP requests from outside to Services, by host and path.',
    numbers: [0, 0, 1, 2, 3],
  },
);

export type Ingress = KubeObject & {
  readonly spec: IngressSpec;
  readonly status: s.Static<typeof status>;
};
