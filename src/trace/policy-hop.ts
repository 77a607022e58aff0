// Which endpoints the policies of a Service allow this connection, with the reason where hints are ignored.
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';
import { choiceOf } from './endpoint-hops.ts';
import type { JudgedConnection } from './judge-connection.ts';
import type { Source } from './resolve-source.ts';
import type { PolicyHop } from './trace.ts';

/** Undefined where the packet is for no service port. */
export function policyHop(
  index: SnapshotIndex,
  judged: JudgedConnection,
  { source }: { readonly source: Source },
): PolicyHop | undefined {
  const { target, route } = judged.judgement;
  if (target === undefined) return undefined;
  const { port, entrance } = target;
  const trafficDistribution = index.service(port.namespace, port.name)?.spec.trafficDistribution;
  const choice = choiceOf(judged);
  const applied = route?.policy ?? (entrance === 'cluster-ip' ? 'internal' : 'external');
  const hop = {
    internal: port.internalPolicy,
    external: port.externalPolicy,
    applied,
    uses: route?.set ?? 'cluster',
    why: route?.why ?? 'policy',
    ...(trafficDistribution === undefined ? {} : { trafficDistribution }),
    ...(choice === undefined ? {} : { choice: choice.why }),
    ...(port.affinitySeconds === undefined ? {} : { affinitySeconds: port.affinitySeconds }),
    ...(port.sourceRanges === undefined || entrance !== 'load-balancer-ip'
      ? {}
      : { sourceRanges: port.sourceRanges }),
  } as const;
  return {
    ...hop,
    sentences: [
      policySentence(hop, judged),
      ...hintsSentence(hop, judged),
      ...affinitySentence(hop, judged, source),
      ...rangesSentence(hop, source),
    ],
  };
}

type Hop = Omit<PolicyHop, 'sentences'>;

function policySentence(
  { applied, internal, external, uses, why }: Hop,
  { node }: JudgedConnection,
) {
  const policy = applied === 'internal' ? internal : external;
  const what = `${applied === 'internal' ? 'internal' : 'external'}TrafficPolicy ${policy}`;
  if (policy === 'Cluster') return `${what}: endpoints of the whole cluster`;
  if (uses === 'local') return `${what}: endpoints on node ${node} only`;
  const start = why === 'from-pod' ? 'a pod' : 'the node itself';
  return `${what} does not restrict what comes from ${start}: endpoints of the whole cluster`;
}

function hintsSentence({ choice, uses, trafficDistribution }: Hop, judged: JudgedConnection) {
  if (choice === undefined || uses === 'local') {
    return choice === 'terminating' ? [terminating] : [];
  }
  const { target } = judged.judgement;
  const entries = target === undefined ? [] : judged.rules.entriesOf(target.port);
  const ready = entries.filter(({ facts }) => facts.isReady);
  const hinted = ready.filter(
    ({ facts }) => facts.zoneHints.length > 0 || facts.nodeHints.length > 0,
  );
  const wanted =
    trafficDistribution === undefined ? '' : `trafficDistribution ${trafficDistribution}: `;
  switch (choice) {
    case 'terminating':
      return [terminating];
    case 'same-node':
      return [`${wanted}hints keep it on node ${judged.node}`];
    case 'same-zone':
      return [`${wanted}hints keep it in zone ${judged.rules.zone}`];
    case 'not-all-hinted':
      if (hinted.length === 0) {
        return wanted === '' ? [] : [`${wanted}ignored, as no endpoint has a hint`];
      }
      return [
        `${wanted}hints are ignored, as ${ready.length - hinted.length} of ${ready.length} ready endpoints have none`,
      ];
    case 'zone-unknown':
      return [`${wanted}hints are ignored, as node ${judged.node} has no zone`];
    case 'hinted-elsewhere':
      return [
        `${wanted}hints are ignored, as none names ${judged.rules.zone === '' ? `node ${judged.node}` : `zone ${judged.rules.zone}`}`,
      ];
    default:
      return [];
  }
}

const terminating = 'no endpoint is ready: those that terminate and still serve are used';

function affinitySentence(
  { affinitySeconds }: Hop,
  { judgement }: JudgedConnection,
  { kind }: Source,
): readonly string[] {
  if (affinitySeconds === undefined) return [];
  const isHidden = kind === 'outside' && judgement.route?.masquerade !== undefined;
  const note = isHidden ? ', by the address with which it arrives at the node' : '';
  return [
    `sessionAffinity ClientIP: a client stays with its endpoint until ${affinitySeconds} s after its last connection${note}`,
  ];
}

function rangesSentence({ sourceRanges }: Hop, { isAssumed, kind }: Source): readonly string[] {
  if (sourceRanges === undefined) return [];
  const note = isAssumed && kind === 'outside' ? ' (assumed of this client)' : '';
  return [`only clients in ${sourceRanges.join(', ')} are let in${note}; others are dropped`];
}
