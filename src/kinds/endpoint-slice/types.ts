import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { objectReference } from '../object-reference.ts';

const endpointConditions = s.struct(
  'EndpointConditions',
  {
    ready: s.pointer(s.boolean('May get traffic; unknown counts as true.')),
    serving: s.pointer(
      s.boolean('Answers, even while it is terminating; unknown counts as ready.'),
    ),
    terminating: s.pointer(s.boolean('Is on its way out; unknown counts as false.')),
  },
  { numbers: [1, 2, 3] },
);
export type EndpointConditions = s.Static<typeof endpointConditions>;

const forZone = s.struct(
  'ForZone',
  {
    name: s.required(s.always(s.string('Name of the zone.'))),
  },
  { numbers: [1] },
);
const forNode = s.struct(
  'ForNode',
  {
    name: s.required(s.always(s.string('Name of the node.'))),
  },
  { numbers: [1] },
);

const endpointHints = s.struct(
  'EndpointHints',
  {
    forZones: s.list(forZone, 'Zones that should use this endpoint, at most eight.', {
      listType: 'atomic',
    }),
    forNodes: s.list(forNode, 'Nodes that should use this endpoint, at most eight.', {
      listType: 'atomic',
    }),
  },
  { numbers: [1, 2] },
);
export type EndpointHints = s.Static<typeof endpointHints>;

const endpoint = s.struct(
  'Endpoint',
  {
    addresses: s.required(
      s.always(
        s.list(s.string(), 'Addresses of this endpoint, 1 to 100 of the type of the slice.', {
          listType: 'set',
        }),
      ),
    ),
    conditions: s.described(endpointConditions, 'State of the endpoint.'),
    hostname: s.pointer(s.string('Host name of the endpoint, one DNS label.')),
    targetRef: s.pointer(objectReference, 'The object, usually a pod, that gives the endpoint.'),
    deprecatedTopology: s.map(s.string(), 'Left from v1beta1; cannot be written.'),
    nodeName: s.pointer(s.string('Node on which the endpoint runs.')),
    zone: s.pointer(s.string('Zone in which the endpoint runs.')),
    hints: s.pointer(endpointHints, 'Who should use the endpoint.'),
  },
  { numbers: [1, 2, 3, 4, 5, 6, 7, 8] },
);
export type Endpoint = s.Static<typeof endpoint>;

const slicePort = s.struct(
  'EndpointPort',
  {
    name: s.pointer(s.string('Name of the port, unique in the slice; may be empty.')),
    protocol: s.pointer(
      s.string('TCP, UDP or SCTP; TCP when left out.', { goType: 'v1.Protocol' }),
    ),
    port: s.pointer(s.int32('Number of the port; without one all ports are meant.')),
    appProtocol: s.pointer(s.string('Protocol spoken on top, such as http.')),
  },
  { mapType: 'atomic', numbers: [1, 2, 3, 4] },
);
export type SlicePort = s.Static<typeof slicePort>;

export const addressTypes = ['FQDN', 'IPv4', 'IPv6'] as const;

export const endpointSliceSchema = s.struct(
  'EndpointSlice',
  {
    ...objectFields,
    addressType: s.required(
      s.always(
        s.oneOf(addressTypes, 'What the addresses are; cannot change. FQDN is deprecated.', {
          goType: 'v1.AddressType',
        }),
      ),
    ),
    endpoints: s.always(s.list(endpoint, 'The endpoints, at most 1000.', { listType: 'atomic' })),
    ports: s.always(s.list(slicePort, 'Ports that every endpoint has.', { listType: 'atomic' })),
  },
  {
    description:
      'Some of the endpoints of a Service, of one address family and with the same ports. All its slices together are its endpoints.',
    numbers: [0, 0, 1, 4, 2, 3],
  },
);
export type EndpointSlice = KubeObject & s.Static<typeof endpointSliceSchema>;

/** The endpointslice-controller, as value of its managed-by label. */
export const sliceManager = 'endpointslice-controller.k8s.io';
/** The endpointslice-mirroring-controller, as value of its managed-by label. */
export const mirrorManager = 'endpointslicemirroring-controller.k8s.io';
