import type { Pod } from '../../kinds/pod/types.ts';
import type { ClusterCheck } from '../check.ts';
import { objectName, objectText } from '../object-names.ts';

export const nodePortTaken: ClusterCheck = {
  code: 'FL0604',
  severity: 'warning',
  title: 'A node port is also a port of a program on the node',
  scope: 'cluster',
  needs: ['services', 'pods'],
  find({ index, services }) {
    const taken = hostPorts(index.snapshot.objects.pods);
    if (taken.size === 0) return [];
    return services.flatMap((service) =>
      (service.spec.ports ?? []).flatMap(({ nodePort = 0, protocol = 'TCP' }, at) => {
        const other = taken.get(`${nodePort} ${protocol}`);
        if (nodePort === 0 || other === undefined) return [];
        const about = objectName(service);
        const { pod, field } = other;
        return [
          {
            about,
            message: `Node port ${nodePort} is also a port of ${objectText(objectName(pod))} on node ${pod.spec.nodeName ?? '?'}: connections to it go to the Service, not to that pod`,
            evidence: [
              { object: about, field: `spec.ports[${at}].nodePort`, value: String(nodePort) },
              { object: objectName(pod), field, value: String(nodePort) },
            ],
            fix: { sentence: 'Choose another node port, or another port for the pod' },
          },
        ];
      }),
    );
  },
};

type HostPort = { readonly pod: Pod; readonly field: string };

/** By `port protocol`: the first pod that listens there on its node. */
function hostPorts(pods: readonly Pod[]): ReadonlyMap<string, HostPort> {
  const all = pods.flatMap((pod) => (pod.spec.nodeName === undefined ? [] : hostPortsOf(pod)));
  return new Map(all.reverse());
}

function hostPortsOf(pod: Pod): readonly (readonly [string, HostPort])[] {
  const isOnHost = pod.spec.hostNetwork === true;
  const name = isOnHost ? 'containerPort' : 'hostPort';
  return (pod.spec.containers ?? []).flatMap(({ ports = [] }, c) =>
    ports.flatMap(({ hostPort = 0, containerPort, protocol = 'TCP' }, p) => {
      const port = isOnHost ? containerPort : hostPort;
      const field = `spec.containers[${c}].ports[${p}].${name}`;
      return port === 0 ? [] : [[`${port} ${protocol}`, { pod, field }] as const];
    }),
  );
}
