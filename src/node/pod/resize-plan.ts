// What new amounts mean for a container that runs.
import type { Container } from '../../kinds/pod/container.ts';
import { type ResourceRequirements, resizableResources } from '../../kinds/pod/resources.ts';
import { deepEqual } from '../../schema/equality.ts';

/** Nothing, new limits for what runs, or an end, after which it starts with them. */
export type ResizeStep = 'none' | 'change' | 'restart';

export function planResize(
  held: ResourceRequirements | undefined,
  { resources, resizePolicy = [] }: Pick<Container, 'resources' | 'resizePolicy'>,
): ResizeStep {
  const changed = resizableResources.filter(
    (name) => !deepEqual(bothOf(held, name), bothOf(resources, name)),
  );
  if (changed.length === 0) return 'none';
  const isRestarted = resizePolicy.some(
    ({ resourceName, restartPolicy }) =>
      restartPolicy === 'RestartContainer' && changed.some((name) => name === resourceName),
  );
  return isRestarted ? 'restart' : 'change';
}

/** What is requested, and the limit. */
const bothOf = (resources: ResourceRequirements | undefined, name: string) => [
  resources?.requests?.[name],
  resources?.limits?.[name],
];
