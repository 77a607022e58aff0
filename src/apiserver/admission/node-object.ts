// What a node may set on its own Node object: nothing that would attract pods to it.
import type { Node } from '../../kinds/node/types.ts';
import {
  archLabel,
  betaArchLabel,
  betaInstanceTypeLabel,
  betaOsLabel,
  betaRegionLabel,
  betaZoneLabel,
  hostnameLabel,
  instanceTypeLabel,
  osLabel,
  regionLabel,
  zoneLabel,
} from '../../meta/well-known-labels.ts';
import { deepEqual } from '../../schema/equality.ts';
import { goQuote } from '../../schema/go-quote.ts';
import type { AdmissionRequest } from './admission.ts';

export function nodeObjectProblem(
  { operation, before, after }: AdmissionRequest,
  node: string,
): string | undefined {
  if (operation === 'create') return createProblem(after as Node, node);
  return operation === 'update' ? updateProblem(before as Node, after as Node, node) : undefined;
}

function createProblem(after: Node, node: string): string | undefined {
  if (after.spec.configSource !== undefined) {
    return `node ${goQuote(node)} is not allowed to create pods with a non-nil configSource`;
  }
  if (after.spec.podCIDR || (after.spec.podCIDRs ?? []).length > 0) {
    return `node ${goQuote(node)} is not allowed to set podCIDRs`;
  }
  const labels = forbiddenLabels({}, after.metadata.labels ?? {});
  return labels === ''
    ? undefined
    : `node ${goQuote(node)} is not allowed to set the following labels: ${labels}`;
}

function updateProblem(before: Node, after: Node, node: string): string | undefined {
  const refuse = (what: string): string => `node ${goQuote(node)} is not allowed to ${what}`;
  const { configSource } = after.spec;
  if (configSource !== undefined && !deepEqual(configSource, before.spec.configSource)) {
    return refuse('update configSource to a new non-nil configSource');
  }
  if (!deepEqual(before.spec.taints ?? [], after.spec.taints ?? [])) return refuse('modify taints');
  if (!deepEqual(podRanges(before), podRanges(after))) return refuse('modify podCIDRs');
  const owners = before.metadata.ownerReferences ?? [];
  if (!deepEqual(owners, after.metadata.ownerReferences ?? [])) {
    return refuse('modify ownerReferences');
  }
  const labels = forbiddenLabels(before.metadata.labels ?? {}, after.metadata.labels ?? {});
  // Upstream does not name the node here.
  return labels === '' ? undefined : `is not allowed to modify labels: ${labels}`;
}

/** Upstream leaves them to validation, which allows a node without ranges to set those of another. */
const podRanges = ({ spec }: Node): unknown => [spec.podCIDR ?? '', spec.podCIDRs ?? []];

type Labels = Readonly<Record<string, string>>;

/** Those that changed and that a node may not change, in order. */
function forbiddenLabels(before: Labels, after: Labels): string {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys]
    .filter((key) => before[key] !== after[key] && isForbidden(key))
    .sort()
    .join(', ');
}

/** Well-known labels that a node reports about itself. */
const ownLabels = new Set([
  hostnameLabel,
  zoneLabel,
  regionLabel,
  betaZoneLabel,
  betaRegionLabel,
  instanceTypeLabel,
  betaInstanceTypeLabel,
  osLabel,
  archLabel,
  betaOsLabel,
  betaArchLabel,
]);

function isForbidden(key: string): boolean {
  const slash = key.indexOf('/');
  const domain = slash < 0 ? '' : key.slice(0, slash);
  const isUnder = (parent: string): boolean => domain === parent || domain.endsWith(`.${parent}`);
  if (isUnder('node-restriction.kubernetes.io')) return true;
  const isReserved = isUnder('kubernetes.io') || isUnder('k8s.io');
  const isOwn =
    ownLabels.has(key) || isUnder('kubelet.kubernetes.io') || isUnder('node.kubernetes.io');
  return isReserved && !isOwn;
}
