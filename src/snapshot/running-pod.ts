// A pod as its node reports it once all its containers run, as far as its spec lets one expect that.
import type { Container } from '../kinds/pod/container.ts';
import { isRestartableInitContainer } from '../kinds/pod/ports.ts';
import type { Pod } from '../kinds/pod/types.ts';
import type { ContainerRecord, ContainerRecords } from '../node/pod/container-record.ts';
import { podStatus } from '../node/status/pod-status.ts';
import type { PodAddresses } from './pod-addresses.ts';

export type RunningPod = {
  readonly addresses: PodAddresses;
  /** False where pods of the same template run and do not become ready. */
  readonly isReady: boolean;
  readonly now: number;
};

export function runningPod(pod: Pod, { addresses, isReady, now }: RunningPod): Pod {
  const { initContainers = [], containers } = pod.spec;
  const running = (container: Container): ContainerRecord => ({
    state: { kind: 'running', id: '', startedAt: now },
    restartCount: 0,
    isStarted: true,
    isReady: isReady && canBecomeReady(container),
  });
  const records: ContainerRecords = Object.fromEntries([
    ...initContainers.map((one) => [
      one.name,
      isRestartableInitContainer(one) ? running(one) : completed(now),
    ]),
    ...(containers ?? []).map((one) => [one.name, running(one)]),
  ]);
  const status = podStatus({
    pod,
    records,
    before: pod.status,
    addresses,
    startedAt: now,
    now,
    isTerminal: false,
  });
  return { ...pod, status };
}

const completed = (now: number): ContainerRecord => ({
  state: { kind: 'terminated', exitCode: 0, reason: 'Completed', startedAt: now, finishedAt: now },
  restartCount: 0,
  isStarted: false,
  isReady: false,
});

/** A probe of a named port that the container does not have never succeeds. */
function canBecomeReady({ readinessProbe, startupProbe, ports = [] }: Container): boolean {
  return [readinessProbe, startupProbe].every((probe) => {
    const port = probe?.httpGet?.port ?? probe?.tcpSocket?.port;
    return typeof port !== 'string' || ports.some(({ name }) => name === port);
  });
}
