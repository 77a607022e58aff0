// The ConfigMap with the CA bundle that pods verify the API server with. Upstream:
// controller/certificates/rootcacertpublisher.
import type { ConfigMap } from '../../kinds/config-map/types.ts';
import { deepEqual } from '../../schema/equality.ts';

export const rootCaName = 'kube-root-ca.crt';

const certificateKey = 'ca.crt';
const descriptionAnnotation = 'kubernetes.io/description';
/** Upstream's text, because clients compare it. */
const description =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. ' +
  'No other usage is guaranteed across distributions of Kubernetes clusters.';

export type RootCaChange =
  | { readonly action: 'none' }
  | { readonly action: 'create' | 'update'; readonly configMap: ConfigMap };

/** Other labels and annotations stay. */
export function desiredRootCa(
  namespace: string,
  certificate: string,
  actual: ConfigMap | undefined,
): RootCaChange {
  const data = { [certificateKey]: certificate };
  if (actual === undefined) {
    return {
      action: 'create',
      configMap: {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: {
          name: rootCaName,
          namespace,
          annotations: { [descriptionAnnotation]: description },
        },
        data,
      },
    };
  }
  const annotations = actual.metadata.annotations ?? {};
  if (deepEqual(actual.data, data) && annotations[descriptionAnnotation]) return { action: 'none' };
  return {
    action: 'update',
    configMap: {
      ...actual,
      metadata: {
        ...actual.metadata,
        annotations: { ...annotations, [descriptionAnnotation]: description },
      },
      data,
    },
  };
}
