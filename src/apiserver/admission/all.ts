// The admission plugins, in the order in which they run. There are no webhooks.
import type { AdmissionPlugin } from './admission.ts';
import { denyServiceExternalIPs } from './deny-service-external-ips.ts';
import { limitRanger } from './limit-ranger.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { nodeRestriction } from './node-restriction.ts';
import { podResizeValidator } from './pod-resize-validator.ts';
import { podSecurity } from './pod-security/plugin.ts';
import { podTopologyLabels } from './pod-topology-labels.ts';
import { priorityPlugin } from './priority.ts';
import { resourceQuota } from './resource-quota.ts';
import { serviceAccountPlugin } from './service-account.ts';
import {
  defaultStorageClass,
  persistentVolumeClaimResize,
  storageObjectInUseProtection,
} from './storage.ts';

export const allAdmissionPlugins: readonly AdmissionPlugin[] = [
  namespaceLifecycle,
  limitRanger,
  serviceAccountPlugin,
  nodeRestriction,
  podTopologyLabels,
  podSecurity,
  priorityPlugin,
  defaultStorageClass,
  storageObjectInUseProtection,
  persistentVolumeClaimResize,
  podResizeValidator,
  denyServiceExternalIPs,
  resourceQuota,
];

export type PluginChoice = {
  readonly enable?: readonly string[];
  readonly disable?: readonly string[];
  /** Plugins of a program that embeds the server; they run after all others. */
  readonly more?: readonly AdmissionPlugin[];
};

/** The plugins that run: the default ones, with those that flags enable and disable. Flags refuse unknown names. */
export function chosenPlugins({
  enable = [],
  disable = [],
  more = [],
}: PluginChoice): readonly AdmissionPlugin[] {
  const chosen = allAdmissionPlugins.filter(
    ({ name, onByDefault }) => enable.includes(name) || (onByDefault && !disable.includes(name)),
  );
  return [...chosen, ...more];
}
