// What a node agent reports, for tests that play one.
import type { Pod } from '../../../src/kinds/pod/types.ts';
import { formatTime } from '../../../src/schema/time.ts';
import type { ControllerHarness } from './controller-harness.ts';

type Reporting = Pick<ControllerHarness, 'api' | 'clock'>;

export async function markReady({ api, clock }: Reporting, { metadata }: Pod): Promise<void> {
  const { namespace = '', name = '' } = metadata;
  const lastTransitionTime = formatTime(clock.now());
  await api.patch(`/api/v1/namespaces/${namespace}/pods/${name}/status`, {
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime }],
    },
  });
}

export async function reportNode({ api, clock }: Reporting, name: string): Promise<void> {
  const time = formatTime(clock.now());
  await api.patch(`/api/v1/nodes/${name}/status`, {
    status: {
      capacity: { cpu: '2', memory: '4Gi', pods: '110' },
      conditions: [
        { type: 'Ready', status: 'True', lastHeartbeatTime: time, lastTransitionTime: time },
      ],
    },
  });
}

const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const renewal = ({ clock }: Reporting): object => ({
  renewTime: `${formatTime(clock.now()).slice(0, -1)}.000000Z`,
});

export async function makeLease(reporting: Reporting, name: string): Promise<void> {
  await reporting.api.post(leases, {
    metadata: { name, namespace: 'kube-node-lease' },
    spec: { holderIdentity: name, ...renewal(reporting) },
  });
}

export async function renewLease(reporting: Reporting, name: string): Promise<void> {
  await reporting.api.patch(`${leases}/${name}`, { spec: renewal(reporting) });
}
