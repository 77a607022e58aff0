import { zoneLabel } from '../../meta/well-known-labels.ts';
import type { ServiceCheck } from '../check.ts';
import { countText, objectName } from '../object-names.ts';

export const distributionWithoutZones: ServiceCheck = {
  code: 'FL0405',
  severity: 'info',
  title: 'trafficDistribution without zones',
  scope: 'service',
  needs: ['services', 'nodes'],
  explains: ['FL0406'],
  find({ service, index, hasClusterIP }) {
    const { trafficDistribution } = service.spec;
    const { nodes } = index.snapshot.objects;
    const isByZone =
      trafficDistribution === 'PreferClose' || trafficDistribution === 'PreferSameZone';
    if (!isByZone || !hasClusterIP || nodes.length === 0) return [];
    const zoned = nodes.filter(({ metadata }) => (metadata.labels?.[zoneLabel] ?? '') !== '');
    if (zoned.length === nodes.length) return [];
    const [without] = nodes.filter((node) => !zoned.includes(node));
    const zones = new Set(zoned.map(({ metadata }) => metadata.labels?.[zoneLabel]));
    return [
      {
        // With zones on a part of the nodes only, endpoints on the others switch it off for all.
        severity: zones.size > 1 ? 'warning' : 'info',
        message: `trafficDistribution is ${trafficDistribution}, but ${nodes.length - zoned.length} of ${countText(nodes.length, 'node')} have no zone, so connections are spread over all endpoints`,
        evidence: [
          {
            object: objectName(service),
            field: 'spec.trafficDistribution',
            value: trafficDistribution,
          },
          ...(without === undefined
            ? []
            : [
                {
                  object: objectName(without),
                  field: `metadata.labels[${zoneLabel}]`,
                  value: '(absent)',
                },
              ]),
        ],
        ...(without === undefined
          ? {}
          : {
              fix: {
                sentence: 'Label every node with its zone',
                command: `kubectl label node ${without.metadata.name ?? ''} ${zoneLabel}=ZONE`,
              },
            }),
      },
    ];
  },
};
