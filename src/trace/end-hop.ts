// What is at the end of a connection: the container that listens by spec, its probes, its restarts and its last termination.
import type { Container } from '../kinds/pod/container.ts';
import { findListeningContainer } from '../kinds/pod/ports.ts';
import type { Probe } from '../kinds/pod/probe.ts';
import { podCondition } from '../kinds/pod/readiness.ts';
import { summarizePod } from '../kinds/pod/summary.ts';
import type { Pod } from '../kinds/pod/types.ts';
import type { Protocol } from '../proxy/model/state.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';
import { isRead } from '../snapshot/snapshot.ts';
import type { EndHop } from './trace.ts';

export type EndRequest = {
  readonly address: string;
  readonly port: number;
  readonly protocol: Protocol;
  /** `namespace/name`; absent for what is no pod. */
  readonly pod?: string;
};

export function endHop(index: SnapshotIndex, request: EndRequest): EndHop {
  const { address, port, pod: key } = request;
  const base = { address, port };
  if (key === undefined) return { ...base, notes: ['no pod: what listens there is not known'] };
  const [namespace = '', name = ''] = key.split('/');
  const pod = index.pod(namespace, name);
  if (pod === undefined) {
    const why = isRead(index.snapshot, 'pods', namespace)
      ? 'the pod was not found'
      : 'the pod cannot be read';
    return { ...base, pod: key, notes: [why] };
  }
  const container = findListeningContainer(pod, port, request.protocol);
  const { restarts, reason } = summarizePod(pod);
  return {
    ...base,
    pod: key,
    ...(container === undefined ? {} : { container: container.name }),
    restarts,
    notes: [
      ...(container === undefined
        ? [`no container has port ${port}/${request.protocol} in its spec`]
        : probeNotes(pod, container)),
      ...(reason === 'Running' || reason === '' ? [] : [`the pod is ${reason}`]),
      ...unreadyNotes(pod),
      ...terminationNotes(pod),
    ],
  };
}

const probeKinds = ['readinessProbe', 'livenessProbe', 'startupProbe'] as const;

function probeNotes({ status }: Pod, container: Container): readonly string[] {
  const state = status.containerStatuses?.find(({ name }) => name === container.name);
  const isFailing = {
    readinessProbe: state?.ready === false,
    livenessProbe: false,
    startupProbe: state?.started === false,
  };
  return probeKinds.flatMap((kind) => {
    const probe = container[kind];
    if (probe === undefined) return [];
    const name = kind.replace('Probe', ' probe');
    return [`${name} (${probeText(probe)})${isFailing[kind] ? ' does not pass' : ''}`];
  });
}

function probeText({ httpGet, tcpSocket, exec, grpc }: Probe): string {
  if (httpGet !== undefined) return `GET ${httpGet.path || '/'} at port ${httpGet.port}`;
  if (tcpSocket !== undefined) return `connects to port ${tcpSocket.port}`;
  if (grpc !== undefined) return `gRPC health at port ${grpc.port}`;
  return `runs ${(exec?.command ?? []).join(' ')}`;
}

function unreadyNotes(pod: Pod): readonly string[] {
  const ready = podCondition(pod, 'Ready');
  if (ready === undefined || ready.status === 'True') return [];
  const why = [ready.reason, ready.message].filter(Boolean).join(': ');
  return [`not ready${why === '' ? '' : `: ${why}`}`];
}

function terminationNotes({ status }: Pod): readonly string[] {
  return (status.containerStatuses ?? []).flatMap(({ name, restartCount, lastState }) => {
    const last = lastState?.terminated;
    if (last === undefined) {
      return restartCount > 0 ? [`container ${name} was restarted ${restartCount} times`] : [];
    }
    const how = [last.reason, `exit code ${last.exitCode}`].filter(Boolean).join(', ');
    const when = last.finishedAt ? ` at ${last.finishedAt}` : '';
    return [`container ${name} was restarted ${restartCount} times, last after ${how}${when}`];
  });
}
