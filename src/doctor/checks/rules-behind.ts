import type { PartPropagation } from '../../kinds/part/propagation.ts';
import type { ClusterCheck, ClusterSymptom, ObjectName } from '../check.ts';
import { objectText } from '../object-names.ts';

export const rulesBehind: ClusterCheck = {
  code: 'FL0906',
  severity: 'error',
  title: 'A proxy or DNS server works by older endpoints',
  scope: 'cluster',
  needs: ['services', 'endpointSlices'],
  isLiveOnly: true,
  find({ propagation }) {
    if (propagation === undefined) return [];
    const { namespace = '', name = '' } = propagation.metadata;
    const service = { kind: 'Service', namespace, name };
    const { parts = [], nodesWithoutProxy = [] } = propagation.status ?? {};
    return [
      ...parts.flatMap((part) => partSymptom(part, service)),
      ...withoutProxy(nodesWithoutProxy ?? [], parts ?? []),
    ];
  },
};

const words: Readonly<Record<string, string>> = { proxy: 'node proxy', dns: 'DNS server' };

function partSymptom(part: PartPropagation, service: ObjectName): readonly ClusterSymptom[] {
  const { kind, node, state, reason, behindRevisions, behindMilliseconds } = part;
  if (state === 'Current') return [];
  const about = kind === 'proxy' ? { kind: 'Node', name: node } : { kind: 'Machine', name: node };
  const what = `The ${words[kind] ?? kind} on ${node}`;
  const path = `namespaces/${service.namespace ?? 'default'}/propagations/${service.name}`;
  const show = `kubectl get --raw /apis/parts.fairlead.dev/v1alpha1/${path}`;
  const evidence = [{ object: about, field: `${kind} state`, value: state }];
  if (state === 'NoAnswer') {
    return [
      {
        about,
        severity: 'warning',
        message: `${what} does not say which endpoints it uses: ${reason ?? 'no answer'}`,
        evidence,
        fix: { sentence: 'Find out in its log why it is stuck, or restart it', command: show },
      },
    ];
  }
  const changes = behindRevisions === undefined ? 'changes' : `${behindRevisions} changes`;
  const time =
    behindMilliseconds === undefined ? '' : ` for ${Math.round(behindMilliseconds / 1000)} s`;
  return [
    {
      about,
      message: `${what} lacks ${changes} of ${objectText(service)}${time}: connections there go by older endpoints`,
      evidence,
      fix: { sentence: 'Find out in its log why it is behind, or restart it', command: show },
    },
  ];
}

/** Where no proxy of Fairlead runs at all, others do its work; where some run, one is missing. */
function withoutProxy(
  nodes: readonly string[],
  parts: readonly PartPropagation[],
): readonly ClusterSymptom[] {
  if (!parts.some(({ kind }) => kind === 'proxy')) return [];
  return nodes.map((name) => ({
    about: { kind: 'Node', name },
    severity: 'warning',
    message: `No node proxy of node ${name} is connected, and those of other nodes are: unless another program is the proxy there, its rules do not follow changes`,
    evidence: [{ object: { kind: 'Node', name }, field: 'proxy', value: '(not connected)' }],
    fix: { sentence: 'Start the node proxy there, or look into its log' },
  }));
}
