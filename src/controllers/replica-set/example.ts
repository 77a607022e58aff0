// Builders for tests.
import { examplePod } from '../../kinds/pod/example.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type {
  ReplicaSet,
  ReplicaSetSpec,
  ReplicaSetStatus,
} from '../../kinds/replica-set/types.ts';
import type { ObjectMeta } from '../../meta/object.ts';

export const now = Date.parse('2026-01-02T00:00:00Z');

type Example = {
  readonly metadata?: ObjectMeta;
  readonly spec?: Partial<ReplicaSetSpec>;
  readonly status?: ReplicaSetStatus;
};

export function exampleReplicaSet({ metadata, spec, status }: Example = {}): ReplicaSet {
  return {
    kind: 'ReplicaSet',
    apiVersion: 'apps/v1',
    metadata: { name: 'web', namespace: 'default', uid: 'web-uid', generation: 1, ...metadata },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: examplePod().spec },
      ...spec,
    },
    status: status ?? { replicas: 0 },
  };
}

/** A pod on a node that has been ready for this many seconds; absent: not ready. */
export function podOf(name: string, readySeconds?: number, more: object = {}): Pod {
  const time = new Date(now - (readySeconds ?? 0) * 1000).toISOString();
  const pod = examplePod({
    metadata: {
      name,
      uid: name,
      labels: { app: 'web' },
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: { nodeName: 'n' },
    status: {
      phase: 'Running',
      conditions: [
        {
          type: 'Ready',
          status: readySeconds === undefined ? 'False' : 'True',
          lastProbeTime: null,
          lastTransitionTime: `${time.slice(0, 19)}Z`,
        },
      ],
    },
  });
  return { ...pod, ...more };
}
