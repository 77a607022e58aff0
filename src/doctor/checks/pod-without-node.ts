import { desiredEndpoints, serviceFamilies } from '../../controllers/endpoint-slice/desired.ts';
import type { ServiceCheck } from '../check.ts';
import { listText, objectName } from '../object-names.ts';

export const podWithoutNode: ServiceCheck = {
  code: 'FL0315',
  severity: 'error',
  title: 'The node of a pod does not exist',
  scope: 'service',
  needs: ['services', 'pods', 'nodes'],
  isLiveOnly: true,
  find({ service, pods, hasSelector, index }) {
    const all = pods();
    const [family] = serviceFamilies(service);
    if (!hasSelector || family === undefined || index.snapshot.objects.nodes.length === 0)
      return [];
    if (all.every(({ spec }) => index.node(spec.nodeName ?? '') !== undefined)) return [];
    const { node } = index;
    const { podsWithoutNode } = desiredEndpoints({ service, pods: all, node, family });
    if (podsWithoutNode.length === 0) return [];
    const names = listText(podsWithoutNode.map(({ metadata }) => metadata.name ?? ''));
    const nodes = [...new Set(podsWithoutNode.map(({ spec }) => spec.nodeName ?? ''))];
    return [
      {
        severity: podsWithoutNode.length === all.length ? 'error' : 'warning',
        message: `Pods ${names} are left out of the endpoints, because there is no node ${listText(nodes)}`,
        evidence: podsWithoutNode.slice(0, 3).map((pod) => ({
          object: objectName(pod),
          field: 'spec.nodeName',
          value: pod.spec.nodeName ?? '',
        })),
        fix: {
          sentence: 'Let the node register again, or delete the pods so that they are replaced',
        },
      },
    ];
  },
};
