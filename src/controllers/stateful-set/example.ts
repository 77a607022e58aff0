// Builders for tests.
import {
  type PersistentVolumeClaim,
  persistentVolumeClaimSchema,
} from '../../kinds/persistent-volume-claim/types.ts';
import { now, podOf } from '../../kinds/pod/example.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { defaultStatefulSet } from '../../kinds/stateful-set/defaults.ts';
import { type StatefulSet, statefulSetSchema } from '../../kinds/stateful-set/types.ts';
import { revisionLabel } from '../../meta/well-known-labels.ts';
import { decode } from '../../schema/decode.ts';
import type { StatefulSituation } from './desired.ts';
import { memberPod } from './member-pod.ts';

export function exampleStatefulSet(spec: object = {}, more: object = {}): StatefulSet {
  const { object } = decode(statefulSetSchema, {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web', namespace: 'default', uid: 'web-uid', generation: 1 },
    spec: {
      replicas: 3,
      serviceName: 'peers',
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      },
      ...spec,
    },
    ...more,
  });
  return defaultStatefulSet(object as StatefulSet);
}

type MemberExample = {
  readonly revision?: string;
  /** Absent: not ready. */
  readonly readySeconds?: number;
  readonly phase?: string;
  readonly isLeaving?: boolean;
};

/** A pod of the revision `new` that is ready for a minute. */
export function member(ordinal: number, example: MemberExample = { readySeconds: 60 }): Pod {
  const { revision = 'new', readySeconds, phase, isLeaving = false } = example;
  const set = exampleStatefulSet();
  const made = memberPod(set, ordinal, { revision, template: set.spec.template });
  const pod = podOf(`web-${ordinal}`, readySeconds);
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: { ...made.metadata.labels, [revisionLabel]: revision },
      ...(isLeaving ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    status: { ...pod.status, ...(phase === undefined ? {} : { phase }) },
  };
}

export function claimOf(
  name: string,
  ownerReferences: readonly object[] = [],
): PersistentVolumeClaim {
  return decode(persistentVolumeClaimSchema, {
    metadata: { name, namespace: 'default', ownerReferences },
  }).object as PersistentVolumeClaim;
}

export function situationOf(
  pods: readonly Pod[],
  more: Partial<StatefulSituation> = {},
): StatefulSituation {
  const set = more.set ?? exampleStatefulSet();
  return {
    set,
    current: { revision: 'old', template: set.spec.template },
    update: { revision: 'new', template: set.spec.template },
    claimNamed: () => undefined,
    now,
    pods,
    ...more,
  };
}
