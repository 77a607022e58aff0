// Resizes the running containers of a pod in place.
import type { Container } from '../../kinds/pod/container.ts';
import { type ResourceRequirements, resizableResources } from '../../kinds/pod/resources.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { deepEqual } from '../../schema/equality.ts';
import { type Containers, graceOf, messageOf } from './active-containers.ts';
import type { ContainerRecord } from './container-record.ts';
import { stopContainer } from './stop-container.ts';

export function resizeContainers(all: Containers, pod: Pod): void {
  const containers = [...(pod.spec.initContainers ?? []), ...(pod.spec.containers ?? [])];
  const running = containers.filter(({ name }) => {
    const record = all.records[name];
    return all.active.has(name) && record?.state.kind === 'running' && !record.isStopping;
  });
  const changed = running.flatMap((container) =>
    resize(all, container, pod) ? [resizedText(container)] : [],
  );
  if (changed.length === 0) return;
  const { generation } = pod.metadata;
  const message = `Pod resize completed: ${JSON.stringify({ containers: changed, generation })}`;
  all.parts.events.record(pod, { type: 'Normal', reason: 'ResizeCompleted', message });
}

const resizedText = ({ name, resources }: Container) => ({ name, resources });

/** Whether its resources changed. */
function resize(all: Containers, container: Container, pod: Pod): boolean {
  const { name, resources } = container;
  const record = all.records[name] as ContainerRecord;
  switch (planResize(record.resources, container)) {
    case 'none':
      if (record.resizeProblem !== undefined) all.records[name] = withResources(record, container);
      return false;
    case 'restart':
      void stopContainer(all, container, pod, {
        graceMs: graceOf(pod) * 1000,
        message: `Container ${name} resize requires restart`,
      });
      return false;
    case 'change':
      try {
        all.active.get(name)?.running.setResources(resources);
      } catch (error) {
        reportProblem(all, container, pod, messageOf(error));
        return false;
      }
      all.records[name] = withResources(record, container);
      return true;
  }
}

function withResources(
  { resizeProblem: _solved, ...record }: ContainerRecord,
  { resources }: Container,
): ContainerRecord {
  return { ...record, resources };
}

/** Recorded once per problem, while the resize is retried on every sync of the pod. */
function reportProblem(all: Containers, container: Container, pod: Pod, problem: string): void {
  const record = all.records[container.name] as ContainerRecord;
  if (record.resizeProblem === problem) return;
  all.records[container.name] = { ...record, resizeProblem: problem };
  const { generation } = pod.metadata;
  const details = { containers: [resizedText(container)], generation, error: problem };
  const message = `Pod resize error: ${JSON.stringify(details)}`;
  all.parts.events.record(pod, { type: 'Warning', reason: 'ResizeError', message });
}

/** No change, new limits for the running container, or a restart with the new limits. */
export type ResizeStep = 'none' | 'change' | 'restart';

export function planResize(
  current: ResourceRequirements | undefined,
  { resources, resizePolicy = [] }: Pick<Container, 'resources' | 'resizePolicy'>,
): ResizeStep {
  const changed = resizableResources.filter(
    (name) => !deepEqual(bothOf(current, name), bothOf(resources, name)),
  );
  if (changed.length === 0) return 'none';
  const isRestarted = resizePolicy.some(
    ({ resourceName, restartPolicy }) =>
      restartPolicy === 'RestartContainer' && changed.some((name) => name === resourceName),
  );
  return isRestarted ? 'restart' : 'change';
}

/** Request and limit. */
const bothOf = (resources: ResourceRequirements | undefined, name: string) => [
  resources?.requests?.[name],
  resources?.limits?.[name],
];
