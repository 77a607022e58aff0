import type { Service } from '../../kinds/service/types.ts';
import type { ServiceCheck, Symptom } from '../check.ts';
import { clientNodes } from '../nodes.ts';
import { countText, listText, objectName } from '../object-names.ts';
import { portsSeenBy } from '../port-endpoints.ts';
import { workloadOf } from '../workloads.ts';

export const internalPolicyLocal: ServiceCheck = {
  code: 'FL0401',
  severity: 'error',
  title: 'Policy Local inside, and nodes without an endpoint',
  scope: 'service',
  needs: ['services', 'endpointSlices', 'nodes'],
  find(subject) {
    const { service, index } = subject;
    if (service.spec.internalTrafficPolicy !== 'Local') return [];
    if (!subject.endpoints().some(({ isReady }) => isReady)) return [];
    const nodes = clientNodes(index).map(({ metadata }) => metadata.name ?? '');
    const withoutLocal = nodes.filter((node) =>
      portsSeenBy(subject, node).some(
        ({ hasEndpoints, localEndpoints }) => hasEndpoints && localEndpoints.length === 0,
      ),
    );
    const target = objectName(service);
    const isByDaemonSet = subject.pods().some((pod) => workloadOf(pod).kind === 'DaemonSet');
    if (subject.cluster.manifests?.hasMadeUpNodes === true) {
      return isByDaemonSet || !subject.hasSelector ? [] : [onAnyNodes(service)];
    }
    if (withoutLocal.length === 0) return [];
    return [
      {
        // A DaemonSet that leaves nodes out does so on purpose.
        severity: isByDaemonSet ? 'warning' : 'error',
        message: `internalTrafficPolicy is Local, and connections from ${withoutLocal.length} of ${countText(nodes.length, 'node')} are dropped, because the endpoints are on others: ${listText(withoutLocal)}`,
        evidence: [
          { object: target, field: 'spec.internalTrafficPolicy', value: 'Local' },
          ...withoutLocal.slice(0, 3).map((name) => ({
            object: { kind: 'Node', name },
            field: 'endpoints on the node',
            value: '0',
          })),
        ],
        fix: {
          sentence: 'Let every node use all endpoints, or run a pod on each node',
          patch: { target, type: 'merge', body: { spec: { internalTrafficPolicy: 'Cluster' } } },
        },
      },
    ];
  },
};

/** Of manifests that say nothing of nodes: only a DaemonSet has a pod on each. */
function onAnyNodes(service: Service): Symptom {
  const target = objectName(service);
  return {
    severity: 'warning',
    message:
      'internalTrafficPolicy is Local, and the pods are not those of a DaemonSet: connections from nodes without one of them are dropped',
    evidence: [{ object: target, field: 'spec.internalTrafficPolicy', value: 'Local' }],
    fix: {
      sentence: 'Let every node use all endpoints, or run a pod on each node',
      patch: { target, type: 'merge', body: { spec: { internalTrafficPolicy: 'Cluster' } } },
    },
  };
}
