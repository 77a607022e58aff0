// Dependencies that the parts of the agent share; created once by run.ts.
import type { ApiCaller } from '../client/api-call.ts';
import type { EventRecorder } from '../client/event-recorder.ts';
import type { Clock } from '../host/clock.ts';
import type { ConfigMap } from '../kinds/config-map/types.ts';
import type { PodStatus } from '../kinds/pod/pod-status.ts';
import type { ResourceList } from '../kinds/pod/resources.ts';
import type { Pod } from '../kinds/pod/types.ts';
import type { Secret } from '../kinds/secret/types.ts';
import type { Service } from '../kinds/service/types.ts';
import type { Log } from '../observe/log.ts';
import type { ClusterDns, ResolverConfig } from './environment/resolver-config.ts';
import type { NodeImages } from './images/run-node-images.ts';
import type { NodeMetrics } from './metrics.ts';
import type { PodNetwork } from './network/pod-network.ts';
import type { WaitForRelease } from './pod/run-release.ts';
import type { Dial } from './probes/probe-container.ts';
import type { Runtime } from './runtimes/runtime.ts';
import type { ClaimVolumes } from './volumes/run-claims.ts';

export type NodeParts = {
  readonly caller: ApiCaller;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: NodeMetrics;
  readonly events: EventRecorder;
  readonly runtime: Runtime;
  /** Absent: the node has no images. */
  readonly images?: NodeImages;
  readonly network: PodNetwork;
  readonly dial: Dial;
  /** Addresses of the node. */
  readonly nodeIPs: readonly string[];
  readonly allocatable: ResourceList;
  readonly dataDirectory: string;
  /** The volumes that claims are bound to. */
  readonly claims: ClaimVolumes;
  /** Real paths of the agent's own files, hidden from pods. */
  readonly privatePaths: readonly string[];
  /** Grace period of containers when the agent shuts down. */
  readonly shutdownGraceMs: number;
  readonly cluster: ClusterDns;
  /** The host's own resolv.conf and hosts, read when a pod starts. */
  readonly hostResolver: () => ResolverConfig;
  readonly hostHosts: () => string;
  readonly services: () => readonly Service[];
  readonly readConfigMap: (namespace: string, name: string) => Promise<ConfigMap | undefined>;
  readonly readSecret: (namespace: string, name: string) => Promise<Secret | undefined>;
  readonly report: (pod: Pod, status: PodStatus) => void;
  /** Resolves when the last reported status has been written, or the pod was deleted. */
  readonly reported: (uid: string) => Promise<void>;
  /** Deletes the pod from the API, after nothing of it is left on the node. */
  readonly finishDeletion: (pod: Pod) => Promise<void>;
  /** Resolves when no traffic is sent to the terminating pod any more, or after a delay. */
  readonly released: WaitForRelease;
};

/** Shorter than the grace period of most pods: an agent that is stopped must not take long. */
export const defaultShutdownGraceMs = 2000;
