import type { ServiceCheck } from '../check.ts';
import { similarWord } from '../edit-distance.ts';
import { mayHaveOtherPods } from '../manifest-facts.ts';
import { objectName } from '../object-names.ts';

/** The Service of the API servers, which write its endpoints themselves. */
const ownKey = 'default/kubernetes';

export const selectorlessWithoutEndpoints: ServiceCheck = {
  code: 'FL0702',
  severity: 'error',
  title: 'A Service without a selector has no endpoints',
  scope: 'service',
  needs: ['services', 'endpointSlices', 'endpoints'],
  explains: ['FL07'],
  find({ service, index, cluster, namespace, name, hasSelector, endpoints }) {
    if (hasSelector || service.spec.type === 'ExternalName' || endpoints().length > 0) return [];
    if (`${namespace}/${name}` === ownKey) return [];
    const others = index.snapshot.objects.endpoints
      .filter(({ metadata }) => metadata.namespace === namespace)
      .flatMap(({ metadata }) => metadata.name ?? [])
      .filter((other) => index.service(namespace, other) === undefined);
    const similar = similarWord(name, others);
    const { manifests } = cluster;
    return [
      {
        // Operators write endpoints of their own.
        ...(manifests !== undefined && mayHaveOtherPods(manifests, namespace)
          ? { severity: 'info' as const }
          : {}),
        message: `The Service has no selector, so its endpoints are written by hand, and there are none: connections are refused${similar === undefined ? '' : `; Endpoints "${similar}" have no Service`}`,
        evidence: [
          { object: objectName(service), field: 'spec.selector', value: '(none)' },
          ...(similar === undefined
            ? []
            : [
                {
                  object: { kind: 'Endpoints', namespace, name: similar },
                  field: 'metadata.name',
                  value: similar,
                },
              ]),
        ],
        fix: {
          sentence:
            similar === undefined
              ? 'Add a selector, or an EndpointSlice with the addresses'
              : `Name the Endpoints "${name}", as the Service`,
        },
      },
    ];
  },
};
