import { zoneLabel } from '../../meta/well-known-labels.ts';
import type { ServiceCheck } from '../check.ts';
import { clientNodes } from '../nodes.ts';
import { countText, objectName } from '../object-names.ts';
import type { SubjectEndpoint } from '../subject.ts';

export const endpointsTogether: ServiceCheck = {
  code: 'FL0903',
  severity: 'info',
  title: 'One failure takes all endpoints',
  scope: 'service',
  needs: ['services', 'endpointSlices', 'nodes'],
  isLiveOnly: true,
  find({ service, index, hasSelector, endpoints }) {
    if (!hasSelector) return [];
    const ready = endpoints().filter(({ isReady }) => isReady);
    const pods = new Set(ready.map(({ endpoint }) => endpoint.targetRef?.name ?? ''));
    const nodes = clientNodes(index);
    if (ready.length === 0 || nodes.length < 2) return [];
    const zoneOf = ({ endpoint }: SubjectEndpoint): string =>
      index.node(endpoint.nodeName ?? '')?.metadata.labels?.[zoneLabel] ?? '';
    const zones = new Set(nodes.map(({ metadata }) => metadata.labels?.[zoneLabel] ?? ''));
    const [node, ...otherNodes] = new Set(ready.map(({ endpoint }) => endpoint.nodeName ?? ''));
    const [zone, ...otherZones] = new Set(ready.map(zoneOf));
    const position =
      pods.size === 1
        ? `is one pod, on node ${node}: while it restarts, connections are refused`
        : otherNodes.length === 0
          ? `are ${countText(pods.size, 'pod')}, all on node ${node} of ${nodes.length}`
          : otherZones.length === 0 && zones.size > 1
            ? `are ${countText(pods.size, 'pod')}, all in zone ${zone}, and the cluster has ${zones.size} zones`
            : undefined;
    if (position === undefined) return [];
    return [
      {
        message: `Behind the Service ${position}`,
        evidence: [
          {
            object: objectName(ready[0]?.slice ?? service),
            field: 'endpoints[*].nodeName',
            value: node ?? '',
          },
        ],
        fix: {
          sentence:
            'Run more pods, and spread them with topologySpreadConstraints over nodes and zones',
        },
      },
    ];
  },
};
