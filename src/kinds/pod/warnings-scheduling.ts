// Warnings about node selection, affinity and topology spread constraints.
import { labelValue } from '../../meta/names.ts';
import {
  betaArchLabel,
  betaInstanceTypeLabel,
  betaOsLabel,
  betaRegionLabel,
  betaZoneLabel,
  masterLabel,
} from '../../meta/well-known-labels.ts';
import type { NodeAffinity, NodeSelectorTerm, PodAffinity } from './affinity.ts';
import type { PodSpec } from './pod-spec.ts';

/** Renamed or deprecated labels. */
const renamedLabels: ReadonlyMap<string, string> = new Map([
  [betaArchLabel, 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  [betaOsLabel, 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  [betaRegionLabel, 'deprecated since v1.17; use "topology.kubernetes.io/region" instead'],
  [betaZoneLabel, 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'],
  [betaInstanceTypeLabel, 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'],
  ['app.kubernetes.io/created-by', 'deprecated since v1.9'],
  [
    'scheduler.alpha.kubernetes.io/preferAvoidPods',
    'deprecated since v1.22; use Taints and Tolerations instead',
  ],
  [masterLabel, 'use "node-role.kubernetes.io/control-plane" instead'],
]);

const matchesNothing = 'a null labelSelector results in matching no pod';

/** Warnings about node labels; `field` is the path of the pod's spec. */
export function placementWarnings(spec: PodSpec, field: string): readonly string[] {
  return [
    ...Object.keys(spec.nodeSelector ?? {}).flatMap((key) => {
      const message = renamedLabels.get(key);
      return message === undefined ? [] : [`${field}.nodeSelector[${key}]: ${message}`];
    }),
    ...nodeAffinityWarnings(spec.affinity?.nodeAffinity, `${field}.affinity.nodeAffinity`),
    ...(spec.topologySpreadConstraints ?? []).flatMap(({ topologyKey, labelSelector }, index) => {
      const at = `${field}.topologySpreadConstraints[${index}]`;
      const message = renamedLabels.get(topologyKey);
      return [
        ...(message === undefined ? [] : [`${at}.topologyKey: ${topologyKey} is ${message}`]),
        ...(labelSelector === undefined ? [`${at}.labelSelector: ${matchesNothing}`] : []),
      ];
    }),
  ];
}

/** Warnings about pod affinity. */
export function neighbourWarnings({ affinity }: PodSpec, field: string): readonly string[] {
  return [
    ...podAffinityWarnings(affinity?.podAffinity, `${field}.affinity.podAffinity`),
    ...podAffinityWarnings(affinity?.podAntiAffinity, `${field}.affinity.podAntiAffinity`),
  ];
}

function nodeAffinityWarnings(
  affinity: NodeAffinity | undefined,
  field: string,
): readonly string[] {
  const required = affinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const preferred = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const requiredField = `${field}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`;
  const preferredField = `${field}.preferredDuringSchedulingIgnoredDuringExecution`;
  return [
    ...(required?.nodeSelectorTerms ?? []).flatMap((term, index) =>
      nodeTermWarnings(term, `${requiredField}[${index}]`),
    ),
    ...preferred.flatMap(({ preference }, index) => {
      const at = `${preferredField}[${index}].preference`;
      return [...nodeTermWarnings(preference, at), ...oddValues(preference, at)];
    }),
  ];
}

/** Also for the nodes of volumes. */
export const nodeTermWarnings = (
  { matchExpressions = [] }: NodeSelectorTerm,
  field: string,
): readonly string[] =>
  matchExpressions.flatMap(({ key }, index) =>
    renamedLabelWarning(key, `${field}.matchExpressions[${index}].key`),
  );

export function renamedLabelWarning(key: string, field: string): readonly string[] {
  const message = renamedLabels.get(key);
  return message === undefined ? [] : [`${field}: ${key} is ${message}`];
}

function oddValues({ matchExpressions = [] }: NodeSelectorTerm, field: string): string[] {
  return matchExpressions.flatMap(({ values = [] }, index) =>
    values.flatMap((value, position) => {
      const at = `${field}.matchExpressions[${index}].values[${position}]`;
      return labelValue(value).map((message) => `${at}: ${value} is invalid, ${message}`);
    }),
  );
}

function podAffinityWarnings(affinity: PodAffinity | undefined, field: string): readonly string[] {
  const required = affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const preferred = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return [
    ...required.flatMap(({ labelSelector }, index) =>
      labelSelector === undefined
        ? [
            `${field}.requiredDuringSchedulingIgnoredDuringExecution[${index}].labelSelector: ${matchesNothing}`,
          ]
        : [],
    ),
    ...preferred.flatMap(({ podAffinityTerm }, index) =>
      podAffinityTerm.labelSelector === undefined
        ? [
            `${field}.preferredDuringSchedulingIgnoredDuringExecution[${index}].podAffinityTerm.labelSelector: ${matchesNothing}`,
          ]
        : [],
    ),
  ];
}
