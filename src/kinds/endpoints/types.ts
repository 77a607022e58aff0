import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { objectReference } from '../object-reference.ts';

const endpointAddress = s.struct(
  'EndpointAddress',
  {
    ip: s.required(s.always(s.string('IP address of the endpoint; not loopback, not link-local.'))),
    hostname: s.string('Host name of the endpoint, one DNS label.'),
    nodeName: s.pointer(s.string('Node on which the endpoint runs.')),
    targetRef: s.pointer(objectReference, 'The object, usually a pod, that gives the endpoint.'),
  },
  { mapType: 'atomic', numbers: [1, 3, 4, 2] },
);
export type EndpointAddress = s.Static<typeof endpointAddress>;

const endpointPort = s.struct(
  'EndpointPort',
  {
    name: s.string('Name of the port as in the Service; needed when there are several.'),
    port: s.required(s.always(s.int32('Number of the port.'))),
    protocol: s.string('TCP, UDP or SCTP; TCP when left out.', { goType: 'v1.Protocol' }),
    appProtocol: s.pointer(s.string('Protocol spoken on top, such as http.')),
  },
  { mapType: 'atomic', numbers: [1, 2, 3, 4] },
);
export type EndpointPort = s.Static<typeof endpointPort>;

const endpointSubset = s.struct(
  'EndpointSubset',
  {
    addresses: s.list(endpointAddress, 'Addresses that are ready for traffic on all ports.', {
      listType: 'atomic',
    }),
    notReadyAddresses: s.list(endpointAddress, 'Addresses that should get no traffic yet.', {
      listType: 'atomic',
    }),
    ports: s.list(endpointPort, 'Ports that every address of the subset has.', {
      listType: 'atomic',
    }),
  },
  { numbers: [1, 2, 3] },
);
export type EndpointSubset = s.Static<typeof endpointSubset>;

export const endpointsSchema = s.struct(
  'Endpoints',
  {
    ...objectFields,
    subsets: s.list(endpointSubset, 'Groups of addresses that share their ports.', {
      listType: 'atomic',
    }),
  },
  {
    description:
      'Addresses and ports behind a Service, in one object. Deprecated: use EndpointSlices.',
    numbers: [0, 0, 1, 2],
  },
);
export type Endpoints = KubeObject & s.Static<typeof endpointsSchema>;

/** The endpoints controller, as value of its managed-by label. */
export const endpointsManager = 'endpoint-controller';
