import { defaultPodTemplate } from '../pod-template/defaults.ts';
import type { DaemonSet, DaemonSetUpdateStrategy } from './types.ts';

const defaultRevisionHistoryLimit = 10;

export function defaultDaemonSet(set: DaemonSet): DaemonSet {
  const { spec } = set;
  return {
    ...set,
    spec: {
      ...spec,
      template: defaultPodTemplate(spec.template),
      updateStrategy: defaultStrategy(spec.updateStrategy),
      revisionHistoryLimit: spec.revisionHistoryLimit ?? defaultRevisionHistoryLimit,
    },
  };
}

function defaultStrategy(strategy: DaemonSetUpdateStrategy): DaemonSetUpdateStrategy {
  const type = strategy.type || 'RollingUpdate';
  if (type !== 'RollingUpdate') return { ...strategy, type };
  const { maxUnavailable = 1, maxSurge = 0 } = strategy.rollingUpdate ?? {};
  return { type, rollingUpdate: { maxUnavailable, maxSurge } };
}
