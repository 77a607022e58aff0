// Builders for tests.
import { defaultDeployment } from '../../kinds/deployment/defaults.ts';
import {
  type Deployment,
  type DeploymentSpec,
  type DeploymentStatus,
  deploymentSchema,
} from '../../kinds/deployment/types.ts';
import type { ReplicaSet, ReplicaSetStatus } from '../../kinds/replica-set/types.ts';
import type { ObjectMeta } from '../../meta/object.ts';
import { ownerReferenceTo } from '../../meta/owner.ts';
import { decode } from '../../schema/decode.ts';
import { revisionAnnotation, sizeAnnotations } from './annotations.ts';
import { maxSurge, wantedOf } from './limits.ts';
import { hashLabel } from './rollout-state.ts';

export const now = Date.parse('2026-01-02T00:00:00Z');

type Example = {
  readonly metadata?: ObjectMeta;
  readonly image?: string;
  readonly spec?: Partial<DeploymentSpec>;
  readonly status?: DeploymentStatus;
};

export function exampleDeployment({ metadata, image, spec, status }: Example = {}): Deployment {
  const { object } = decode(deploymentSchema, {
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: { name: 'web', namespace: 'default', uid: 'web-uid', generation: 1, ...metadata },
    spec: {
      replicas: 4,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'app', image: image ?? 'app:1' }] },
      },
      ...spec,
    },
    status: status ?? {},
  });
  return defaultDeployment(object as Deployment);
}

type SetExample = {
  readonly name: string;
  readonly image?: string;
  readonly replicas: number;
  readonly revision?: number;
  readonly minute?: number;
  readonly status?: Partial<ReplicaSetStatus>;
  readonly annotations?: Readonly<Record<string, string>>;
};

/** A replica set of the deployment, all of whose pods are available unless the status says otherwise. */
export function exampleSet(deployment: Deployment, example: SetExample): ReplicaSet {
  const {
    name,
    image = 'app:1',
    replicas,
    revision = 1,
    minute = 0,
    status,
    annotations,
  } = example;
  const { template } = exampleDeployment({ image }).spec;
  const labels = { app: 'web', [hashLabel]: name };
  const wanted = wantedOf(deployment);
  return {
    kind: 'ReplicaSet',
    apiVersion: 'apps/v1',
    metadata: {
      name: `web-${name}`,
      namespace: 'default',
      uid: `${name}-uid`,
      generation: 1,
      creationTimestamp: `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`,
      labels,
      annotations: {
        [revisionAnnotation]: String(revision),
        ...sizeAnnotations(wanted, wanted + maxSurge(deployment)),
        ...annotations,
      },
      ownerReferences: [ownerReferenceTo(deployment)],
    },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { ...template, metadata: { labels } },
    },
    status: {
      replicas,
      readyReplicas: replicas,
      availableReplicas: replicas,
      terminatingReplicas: 0,
      observedGeneration: 1,
      ...status,
    },
  };
}
