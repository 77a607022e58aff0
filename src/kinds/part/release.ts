// Whether a terminating pod may get SIGTERM: no proxy forwards to it any more. Decision 15.
import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { partsGroup, partsVersion } from './names.ts';

export const releaseResource = {
  ...{ group: partsGroup, version: partsVersion, kind: 'Release' },
  ...{ plural: 'releases', singular: 'release', namespaced: true },
} as const;

const releaseStatus = s.struct(
  'ReleaseStatus',
  {
    confirmed: s.required(
      s.always(s.boolean('Whether all connected proxies say that no rule leads to the pod.')),
    ),
    waitingFor: s.list(s.string(), 'Proxies that have not confirmed.'),
    nodesWithoutProxy: s.list(
      s.string(),
      'Ready nodes of which no proxy is connected: their rules are not known.',
    ),
  },
  { numbers: [1, 2, 3] },
);
export type ReleaseStatus = s.Static<typeof releaseStatus>;

export const releaseSchema = s.struct(
  'Release',
  { ...objectFields, status: s.described(releaseStatus, 'The answer.') },
  {
    description: 'Whether proxies still forward to a terminating pod; the answer waits for it.',
    numbers: [0, 0, 1, 2],
  },
);
export type Release = KubeObject & s.Static<typeof releaseSchema>;
