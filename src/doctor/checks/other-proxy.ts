import { serviceProxyNameLabel } from '../../meta/well-known-labels.ts';
import type { ServiceCheck } from '../check.ts';
import { objectName } from '../object-names.ts';

export const otherProxy: ServiceCheck = {
  code: 'FL0607',
  severity: 'warning',
  title: 'The Service is left to another proxy',
  scope: 'service',
  needs: ['services'],
  explains: ['FL04'],
  find({ service, hasClusterIP }) {
    const proxy = service.metadata.labels?.[serviceProxyNameLabel];
    if (proxy === undefined || !hasClusterIP) return [];
    const target = objectName(service);
    return [
      {
        message: `kube-proxy and Fairlead's proxy leave the Service to the proxy "${proxy}": without it, the cluster IP does not answer`,
        evidence: [
          { object: target, field: `metadata.labels[${serviceProxyNameLabel}]`, value: proxy },
        ],
        fix: {
          sentence: 'Remove the label, unless that proxy runs on every node',
          patch: {
            target,
            type: 'merge',
            body: { metadata: { labels: { [serviceProxyNameLabel]: null } } },
          },
        },
      },
    ];
  },
};
