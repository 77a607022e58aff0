// The replica set of the current template: created when it is missing, its annotations kept up to date. Upstream:
// getNewReplicaSet() in pkg/controller/deployment/sync.go.
import type { Deployment } from '../../kinds/deployment/types.ts';
import { templateHash } from '../../kinds/pod-template/template-hash.ts';
import type { ReplicaSet } from '../../kinds/replica-set/types.ts';
import { ownerReferenceTo } from '../../meta/owner.ts';
import { deepEqual } from '../../schema/equality.ts';
import {
  annotationsOfCurrent,
  highestRevision,
  revisionAnnotation,
  revisionOf,
  sizeAnnotations,
} from './annotations.ts';
import { conditionOf, judge, reasons } from './conditions.ts';
import { hasProgressDeadline, maxSurge, nextSizeOfCurrent, wantedOf } from './limits.ts';
import { allSets, hashLabel, type Rollout, withChange } from './rollout-state.ts';

/** An existing set gets the newest revision and the annotations of the deployment. */
export function reviseCurrent(rollout: Rollout, now: number): Rollout {
  const { deployment, current, old } = rollout;
  if (current === undefined) return rollout;
  const before = current.metadata.annotations ?? {};
  const annotations = annotationsOfCurrent(deployment, before, highestRevision(old) + 1);
  const { minReadySeconds = 0 } = deployment.spec;
  const isRevised =
    !deepEqual(annotations, before) || (current.spec.minReadySeconds ?? 0) !== minReadySeconds;
  const replicaSet: ReplicaSet = {
    ...current,
    metadata: { ...current.metadata, annotations },
    spec: { ...current.spec, minReadySeconds },
  };
  const revised = isRevised ? withChange(rollout, { action: 'update', replicaSet }) : rollout;
  const updated = withRevision(deployment, revisionOf(replicaSet));
  if (!hasProgressDeadline(updated) || conditionOf(updated.status, 'Progressing') !== undefined)
    return { ...revised, deployment: updated };
  const message = `Found new replica set "${current.metadata.name}"`;
  const verdict = { type: 'Progressing', status: 'True', reason: reasons.found, message } as const;
  return { ...revised, deployment: judge(updated, verdict, now) };
}

export function createCurrent(rollout: Rollout, now: number): Rollout {
  if (rollout.current !== undefined) return rollout;
  const { deployment, old } = rollout;
  const revision = highestRevision(old) + 1;
  const size = nextSizeOfCurrent(deployment, allSets(rollout), 0);
  const replicaSet = newReplicaSet(deployment, size, revision);
  const created = withChange(rollout, {
    action: 'create',
    replicaSet,
    ...(size > 0 ? { scaledFrom: 0 } : {}),
  });
  const updated = withRevision(deployment, revision);
  if (!hasProgressDeadline(updated)) return { ...created, deployment: updated };
  const message = `Created new replica set "${replicaSet.metadata.name}"`;
  const verdict = {
    type: 'Progressing',
    status: 'True',
    reason: reasons.created,
    message,
  } as const;
  return { ...created, deployment: judge(updated, verdict, now) };
}

function newReplicaSet(deployment: Deployment, replicas: number, revision: number): ReplicaSet {
  const { spec, metadata, status } = deployment;
  const { template, selector, minReadySeconds } = spec;
  const hash = templateHash(template, status.collisionCount);
  const labels = { ...template.metadata.labels, [hashLabel]: hash };
  const wanted = wantedOf(deployment);
  return {
    kind: 'ReplicaSet',
    apiVersion: 'apps/v1',
    metadata: {
      name: `${metadata.name}-${hash}`,
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      labels,
      annotations: {
        ...annotationsOfCurrent(deployment, {}, revision),
        ...sizeAnnotations(wanted, wanted + maxSurge(deployment)),
      },
      ownerReferences: [ownerReferenceTo(deployment)],
    },
    spec: {
      replicas,
      ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, [hashLabel]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
    status: { replicas: 0 },
  };
}

function withRevision(deployment: Deployment, revision: number): Deployment {
  const { annotations } = deployment.metadata;
  if (annotations?.[revisionAnnotation] === String(revision)) return deployment;
  return {
    ...deployment,
    metadata: {
      ...deployment.metadata,
      annotations: { ...annotations, [revisionAnnotation]: String(revision) },
    },
  };
}
