// Converts between workloads and Scale objects.
import { type FieldError, invalid } from '../../meta/field-error.ts';
import {
  formatSelector,
  type LabelSelector,
  selectorFromLabelSelector,
  selectorFromMap,
} from '../../meta/labels.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { Scale } from './types.ts';

/** Deployments and replica sets have a LabelSelector, replication controllers a map. */
export type Scalable = KubeObject & {
  readonly spec: {
    readonly replicas?: number;
    readonly selector?: LabelSelector | Readonly<Record<string, string>>;
  };
  readonly status: { readonly replicas?: number };
};

export function scaleOf(workload: Scalable): Scale {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = workload.metadata;
  const { replicas } = workload.spec;
  const selector = selectorText(workload);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    },
    spec: replicas ? { replicas } : {},
    status: {
      replicas: workload.status.replicas ?? 0,
      ...(selector === '' ? {} : { selector }),
    },
  };
}

/** The workload with the replicas of the Scale. */
export function withReplicas<T extends Scalable>(workload: T, scale: Scale): T {
  return { ...workload, spec: { ...workload.spec, replicas: scale.spec.replicas ?? 0 } };
}

export function validateScale({ spec }: Scale): readonly FieldError[] {
  const { replicas = 0 } = spec;
  return replicas < 0
    ? [invalid('spec.replicas', replicas, 'must be greater than or equal to 0')]
    : [];
}

function selectorText({ kind, spec }: Scalable): string {
  const { selector } = spec;
  return formatSelector(
    kind === 'ReplicationController'
      ? selectorFromMap(selector as Readonly<Record<string, string>> | undefined)
      : selectorFromLabelSelector(selector as LabelSelector | undefined),
  );
}
