// Annotations by which manifests ask a cloud for more than an address: TLS, the PROXY protocol, logs, checks. Without a cloud nothing comes
// of them, and people should learn so.
import type { Service } from '../../../kinds/service/types.ts';
import {
  sourceRangesAnnotation,
  topologyHintsAnnotation,
  topologyModeAnnotation,
} from '../../../meta/well-known-annotations.ts';
import { isKnownAnnotation } from './read-request.ts';

const cloudPrefixes: readonly string[] = [
  'service.beta.kubernetes.io/',
  'service.kubernetes.io/',
  'cloud.google.com/',
  'networking.gke.io/',
  'service.cloud.tencent.com/',
  'loadbalancer.openstack.org/',
  'load-balancer.hetzner.cloud/',
  'kubernetes.digitalocean.com/',
  'oci.oraclecloud.com/',
  'metallb.io/',
];

/** Of Kubernetes itself: other parts obey them. */
const ofKubernetes: readonly string[] = [
  sourceRangesAnnotation,
  topologyHintsAnnotation,
  topologyModeAnnotation,
];

/** In order, so that the same annotations give the same text. */
export function ignoredAnnotations({ metadata }: Service): readonly string[] {
  return Object.keys(metadata.annotations ?? {})
    .filter((name) => cloudPrefixes.some((prefix) => name.startsWith(prefix)))
    .filter((name) => !ofKubernetes.includes(name) && !isKnownAnnotation(name))
    .sort();
}
