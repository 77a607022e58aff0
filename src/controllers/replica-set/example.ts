// Builders for tests.
import { examplePod } from '../../kinds/pod/example.ts';
import type {
  ReplicaSet,
  ReplicaSetSpec,
  ReplicaSetStatus,
} from '../../kinds/replica-set/types.ts';
import type { ObjectMeta } from '../../meta/object.ts';

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
