// What new amounts mean for a container that runs.
import type { Container } from '../kinds/pod/container.ts';
import type { ResourceRequirements } from '../kinds/pod/resources.ts';
import { deepEqual } from '../schema/equality.ts';

/** Nothing, new limits for what runs, or an end, after which it starts with them. */
export type ResizeStep = 'none' | 'change' | 'restart';

const resizable = ['cpu', 'memory'] as const;

export function planResize(
  held: ResourceRequirements | undefined,
  { resources, resizePolicy = [] }: Pick<Container, 'resources' | 'resizePolicy'>,
): ResizeStep {
  const changed = resizable.filter(
    (name) => !deepEqual(amountsOf(held, name), amountsOf(resources, name)),
  );
  if (changed.length === 0) return 'none';
  const isRestarted = resizePolicy.some(
    ({ resourceName, restartPolicy }) =>
      restartPolicy === 'RestartContainer' && changed.some((name) => name === resourceName),
  );
  return isRestarted ? 'restart' : 'change';
}

const amountsOf = (resources: ResourceRequirements | undefined, name: string) => [
  resources?.requests?.[name],
  resources?.limits?.[name],
];
