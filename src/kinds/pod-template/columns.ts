// Columns that show a workload's pod template.
import type { KubeObject } from '../../meta/object.ts';
import type { Column } from '../definition.ts';
import type { PodTemplateSpec } from './types.ts';

export function templateColumns<T extends KubeObject>(
  templateOf: (object: T) => PodTemplateSpec | undefined,
): readonly Column<T>[] {
  const containers = (object: T) => templateOf(object)?.spec.containers ?? [];
  return [
    {
      name: 'Containers',
      type: 'string',
      priority: 1,
      description: 'Names of each container in the template.',
      cell: (object) =>
        containers(object)
          .map(({ name }) => name)
          .join(','),
    },
    {
      name: 'Images',
      type: 'string',
      priority: 1,
      description: 'Images referenced by each container in the template.',
      cell: (object) =>
        containers(object)
          .map(({ image = '' }) => image)
          .join(','),
    },
  ];
}
