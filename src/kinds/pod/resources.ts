// Resource requirements of containers and pods.
import * as s from '../../schema/node.ts';
import { roundToMilli } from '../../schema/quantity.ts';
import { must } from './references.ts';

export const resourceList = s.map(s.quantity(), 'Amounts by resource name.');
export type ResourceList = s.Static<typeof resourceList>;

/** Finer values than a thousandth cannot be allocated; stored ones stay readable. */
export function roundQuantities(quantities: ResourceList): ResourceList {
  const entries = Object.entries(quantities);
  const rounded = entries.map(([name, amount]) => [name, roundToMilli(amount)] as const);
  return rounded.every(([, amount], index) => amount === entries[index]?.[1])
    ? quantities
    : Object.fromEntries(rounded);
}

const resourceClaim = s.struct(
  'ResourceClaim',
  {
    name: must(s.string('Which entry of the pod’s resourceClaims is used.')),
    request: s.string('Which request of that claim; all of them when empty.'),
  },
  { numbers: [1, 2] },
);

export const resourceRequirements = s.struct(
  'ResourceRequirements',
  {
    limits: s.described(resourceList, 'The most that may be used, by resource.'),
    requests: s.described(resourceList, 'The least that must be available, by resource.'),
    claims: s.list(resourceClaim, 'Claims for devices that are used here.', {
      listType: 'map',
      keys: ['name'],
    }),
  },
  { numbers: [1, 2, 3] },
);
export type ResourceRequirements = s.Static<typeof resourceRequirements>;

export function roundRequirements(resources: ResourceRequirements): ResourceRequirements {
  const { limits, requests } = resources;
  return {
    ...resources,
    ...(limits === undefined ? {} : { limits: roundQuantities(limits) }),
    ...(requests === undefined ? {} : { requests: roundQuantities(requests) }),
  };
}

export const volumeResourceRequirements = s.struct(
  'VolumeResourceRequirements',
  {
    limits: s.described(resourceList, 'The most that may be used, by resource.'),
    requests: s.described(resourceList, 'The least that must be available, by resource.'),
  },
  { numbers: [1, 2] },
);

/** Resize policy: what may change while the container runs. */
export const resizableResources = ['cpu', 'memory'] as const;

export const containerResizePolicy = s.struct(
  'ContainerResizePolicy',
  {
    resourceName: must(s.string('The resource: cpu or memory.')),
    restartPolicy: must(s.string('Whether a new amount restarts the container.')),
  },
  { numbers: [1, 2] },
);
export type ContainerResizePolicy = s.Static<typeof containerResizePolicy>;
