// The host names of a pod.
import type { Pod } from '../../kinds/pod/types.ts';
import { trimEnd } from '../../meta/trim-end.ts';

export type PodHostname = {
  /** What `hostname` prints in the pod. */
  readonly kernelName: string;
  readonly hostname: string;
  /** With subdomain, namespace and cluster domain; absent without a subdomain. */
  readonly fullName?: string;
};

/** Limit of Linux. */
const maxKernelNameLength = 64;
const maxLabelLength = 63;

/** Throws if the pod has setHostnameAsFQDN and its FQDN is too long. */
export function podHostname({ metadata, spec }: Pod, clusterDomain: string): PodHostname {
  // On the node's network it has the name of the Node, not of the machine: several nodes may share a machine.
  if (spec.hostNetwork === true && spec.nodeName !== undefined) {
    const hostname = trimEnd(spec.nodeName.slice(0, maxKernelNameLength), '-.');
    return { kernelName: hostname, hostname };
  }
  if (spec.hostnameOverride !== undefined) {
    return { kernelName: spec.hostnameOverride, hostname: spec.hostnameOverride };
  }
  const podName = spec.hostname ? spec.hostname : (metadata.name ?? '');
  const hostname = trimEnd(podName.slice(0, maxLabelLength), '-.');
  if (!spec.subdomain) return { kernelName: hostname, hostname };
  const fullName = `${hostname}.${spec.subdomain}.${metadata.namespace}.svc.${clusterDomain}`;
  if (!spec.setHostnameAsFQDN) return { kernelName: hostname, hostname, fullName };
  if (fullName.length > maxKernelNameLength) {
    throw new Error(
      `Failed to construct FQDN from Pod hostname and cluster domain, FQDN ${fullName} is too long (${maxKernelNameLength} characters is the max, ${fullName.length} characters requested)`,
    );
  }
  return { kernelName: fullName, hostname, fullName };
}
