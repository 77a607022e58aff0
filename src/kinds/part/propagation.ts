// Which proxy and which DNS server has which changes of a Service in effect.
import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { partsGroup, partsVersion } from './names.ts';

export const propagationResource = {
  ...{ group: partsGroup, version: partsVersion, kind: 'Propagation' },
  ...{ plural: 'propagations', singular: 'propagation', namespaced: true },
} as const;

const partStates = ['Current', 'Behind', 'NoAnswer'] as const;

const partPropagation = s.struct(
  'PartPropagation',
  {
    kind: s.required(s.always(s.string('Kind of the part: proxy or dns.'))),
    node: s.required(s.always(s.string('Node or machine that it runs on.'))),
    state: s.required(
      s.always(
        s.oneOf(
          partStates,
          'Current: everything is in effect. Behind: not yet. NoAnswer: unknown.',
        ),
      ),
    ),
    reason: s.string('Why there is no answer.'),
    mode: s.string('Of a proxy, the mode that it runs in.'),
    revision: s.string(
      'Newest revision of the Service or of its EndpointSlices that is in effect; absent when it is not known.',
    ),
    since: s.string('Since when the newest revision has been in effect there, RFC 3339.'),
    sinceBefore: s.boolean('It has been in effect for longer than the part remembers.'),
    behindRevisions: s.pointer(s.int32('How many changes of them are not in effect.')),
    behindMilliseconds: s.pointer(
      s.int64('How long the oldest change that the part has received has been waiting there.'),
    ),
  },
  { numbers: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] },
);
export type PartPropagation = s.Static<typeof partPropagation>;

const propagationStatus = s.struct(
  'PropagationStatus',
  {
    revision: s.required(
      s.always(s.string('Newest revision of the Service and its EndpointSlices.')),
    ),
    parts: s.list(partPropagation, 'Connected parts that the Service concerns.'),
    nodesWithoutProxy: s.list(s.string(), 'Ready nodes of which no proxy is connected.'),
    time: s.string('When the server answered, on its clock, RFC 3339.'),
  },
  { numbers: [1, 2, 3, 4] },
);
export type PropagationStatus = s.Static<typeof propagationStatus>;

export const propagationSchema = s.struct(
  'Propagation',
  { ...objectFields, status: s.described(propagationStatus, 'The answer of this moment.') },
  {
    description: 'How far changes of the Service of this name have come.',
    numbers: [0, 0, 1, 2],
  },
);
export type Propagation = KubeObject & s.Static<typeof propagationSchema>;
