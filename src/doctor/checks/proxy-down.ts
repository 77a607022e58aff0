import { isPodReady } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { systemNamespace } from '../../snapshot/cluster-settings.ts';
import type { ClusterCheck } from '../check.ts';
import { objectName } from '../object-names.ts';
import { logsLine } from '../patch-command.ts';
import { whyNotReady } from '../why-not-ready.ts';
import { workloadOf } from '../workloads.ts';

/** DaemonSets of installers, by their names. */
const proxies: ReadonlySet<string> = new Set(['kube-proxy', 'fairlead-proxy']);

export const proxyDown: ClusterCheck = {
  code: 'FL0905',
  severity: 'error',
  title: 'The node proxy of a node does not run',
  scope: 'cluster',
  needs: ['services', 'pods'],
  isLiveOnly: true,
  find: ({ index }) =>
    index
      .podsIn(systemNamespace)
      .filter((pod) => isProxy(pod) && !isPodReady(pod))
      .map((pod) => {
        const why = whyNotReady(pod, index);
        const node = pod.spec.nodeName ?? '';
        return {
          about: { kind: 'Node', name: node === '' ? '?' : node },
          message: `The rules of node ${node} do not follow changes, because its proxy, pod ${pod.metadata.name}, is not ready: ${why?.detail ?? 'it has not started'}`,
          evidence: [
            { object: objectName(pod), field: 'status.conditions[Ready]', value: 'False' },
          ],
          fix: { sentence: 'Find out why it does not run', command: logsLine(pod) },
        };
      }),
};

const isProxy = (pod: Pod): boolean => {
  const { kind, name } = workloadOf(pod);
  return kind === 'DaemonSet' && proxies.has(name) && pod.metadata.deletionTimestamp === undefined;
};
