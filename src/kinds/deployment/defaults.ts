import { defaultPodTemplate } from '../pod-template/defaults.ts';
import type { Deployment, DeploymentStrategy } from './types.ts';

const defaultRevisionHistoryLimit = 10;
const progressSeconds = 600;
const share = '25%';

export function defaultDeployment(deployment: Deployment): Deployment {
  const { spec } = deployment;
  return {
    ...deployment,
    spec: {
      ...spec,
      replicas: spec.replicas ?? 1,
      template: defaultPodTemplate(spec.template),
      strategy: defaultStrategy(spec.strategy),
      revisionHistoryLimit: spec.revisionHistoryLimit ?? defaultRevisionHistoryLimit,
      progressDeadlineSeconds: spec.progressDeadlineSeconds ?? progressSeconds,
    },
  };
}

function defaultStrategy(strategy: DeploymentStrategy): DeploymentStrategy {
  const type = strategy.type || 'RollingUpdate';
  if (type !== 'RollingUpdate') return { ...strategy, type };
  const { maxUnavailable = share, maxSurge = share } = strategy.rollingUpdate ?? {};
  return { type, rollingUpdate: { maxUnavailable, maxSurge } };
}
