import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';

const leaseSpec = s.struct(
  'LeaseSpec',
  {
    holderIdentity: s.pointer(s.string('Who holds the lease.')),
    leaseDurationSeconds: s.pointer(s.int32('After this time without renewal it is free.')),
    acquireTime: s.pointer(s.microTime('When the holder took it.')),
    renewTime: s.pointer(s.microTime('When the holder last renewed it.')),
    leaseTransitions: s.pointer(s.int32('How often it changed hands.')),
    strategy: s.pointer(s.string('How coordinated election picks the leader; not used here.')),
    preferredHolder: s.pointer(s.string('Who should hold it under a strategy; not used here.')),
  },
  { numbers: [1, 2, 3, 4, 5, 6, 7] },
);
export type LeaseSpec = s.Static<typeof leaseSpec>;

export const leaseSchema = s.struct(
  'Lease',
  {
    ...objectFields,
    spec: s.described(leaseSpec, 'Holder and times.'),
  },
  {
    description: 'Says who holds something, and until when it is theirs unless they renew it.',
    numbers: [0, 0, 1, 2],
  },
);
export type Lease = KubeObject & s.Static<typeof leaseSchema>;
