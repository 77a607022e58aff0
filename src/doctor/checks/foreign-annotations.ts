import type { Node } from '../../kinds/node/types.ts';
import type { ServiceCheck } from '../check.ts';
import { listText, objectName } from '../object-names.ts';

/** Beginnings of annotations of Services, and of provider ids of the nodes that their controllers look after. */
const providers: readonly (readonly [provider: string, annotation: string])[] = [
  ['aws', 'service.beta.kubernetes.io/aws-'],
  ['azure', 'service.beta.kubernetes.io/azure-'],
  ['gce', 'cloud.google.com/'],
  ['gce', 'networking.gke.io/'],
  ['digitalocean', 'service.beta.kubernetes.io/do-loadbalancer-'],
  ['openstack', 'loadbalancer.openstack.org/'],
  ['linode', 'service.beta.kubernetes.io/linode-loadbalancer-'],
  ['hcloud', 'load-balancer.hetzner.cloud/'],
  ['oci', 'oci.oraclecloud.com/'],
  ['scaleway', 'service.beta.kubernetes.io/scw-loadbalancer-'],
];

export const foreignAnnotations: ServiceCheck = {
  code: 'FL0612',
  severity: 'warning',
  title: 'An annotation is of another cloud provider',
  scope: 'service',
  needs: ['services', 'nodes'],
  isLiveOnly: true,
  find({ service, index }) {
    const { annotations = {} } = service.metadata;
    if (service.spec.type !== 'LoadBalancer') return [];
    const own = providersOf(index.snapshot.objects.nodes);
    const foreign = Object.keys(annotations).flatMap((key) => {
      const [provider] = providers.find(([, beginning]) => key.startsWith(beginning)) ?? [];
      return provider === undefined || own.has(provider) ? [] : [{ key, provider }];
    });
    // Manifests for several clouds carry the annotations of all.
    const isForSeveral = Object.keys(annotations).some((key) =>
      providers.some(([provider, beginning]) => own.has(provider) && key.startsWith(beginning)),
    );
    const [first] = foreign;
    if (first === undefined || isForSeveral) return [];
    const isPending = (service.status?.loadBalancer?.ingress ?? []).length === 0;
    const here = own.size === 0 ? 'no cloud provider' : listText([...own]);
    return [
      {
        severity: isPending ? 'warning' : 'info',
        message: `The annotation ${first.key} is for ${first.provider}, and the nodes are of ${here}: nothing here reads it`,
        evidence: foreign.map(({ key }) => ({
          object: objectName(service),
          field: `metadata.annotations[${key}]`,
          value: annotations[key] ?? '',
        })),
        fix: { sentence: 'Use the annotations of the load balancers that this cluster has' },
      },
    ];
  },
};

/** `aws` of `aws:///eu-central-1a/i-0123456789`. */
function providersOf(nodes: readonly Node[]): ReadonlySet<string> {
  return new Set(
    nodes.flatMap(({ spec: { providerID = '' } }) => {
      const [scheme = '', rest] = providerID.split('://', 2);
      return rest === undefined ? [] : [scheme];
    }),
  );
}
