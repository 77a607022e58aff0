// Gives the containers of a pod that run the amounts that the pod wants by now.
import type { Container } from '../../kinds/pod/container.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { ContainerRecord } from './container-record.ts';
import { type Containers, graceOf, messageOf } from './live-containers.ts';
import { planResize } from './resize-plan.ts';
import { stopContainer } from './stop-container.ts';

export function resizeContainers(all: Containers, pod: Pod): void {
  const containers = [...(pod.spec.initContainers ?? []), ...(pod.spec.containers ?? [])];
  const running = containers.filter(({ name }) => {
    const record = all.records[name];
    return all.live.has(name) && record?.state.kind === 'running' && !record.isStopping;
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

/** Whether it has other amounts now. */
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
        all.live.get(name)?.running.setResources(resources);
      } catch (error) {
        reportProblem(all, container, pod, messageOf(error));
        return false;
      }
      all.records[name] = withResources(record, container);
      return true;
  }
}

function withResources(
  { resizeProblem: _over, ...record }: ContainerRecord,
  { resources }: Container,
): ContainerRecord {
  return { ...record, resources };
}

/** Told once for each problem: it is tried again whenever the pod is looked at. */
function reportProblem(all: Containers, container: Container, pod: Pod, problem: string): void {
  const record = all.records[container.name] as ContainerRecord;
  if (record.resizeProblem === problem) return;
  all.records[container.name] = { ...record, resizeProblem: problem };
  const { generation } = pod.metadata;
  const about = { containers: [resizedText(container)], generation, error: problem };
  const message = `Pod resize error: ${JSON.stringify(about)}`;
  all.parts.events.record(pod, { type: 'Warning', reason: 'ResizeError', message });
}
