// What the parts of the agent share; made once by run.ts.
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
import type { NodeMetrics } from './metrics.ts';
import type { PodNetwork } from './network/pod-network.ts';
import type { Dial } from './probes/probe-endpoint.ts';
import type { Runtime } from './runtimes/runtime.ts';

export type NodeParts = {
  readonly caller: ApiCaller;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: NodeMetrics;
  readonly events: EventRecorder;
  readonly runtime: Runtime;
  readonly network: PodNetwork;
  readonly dial: Dial;
  /** Addresses of the node. */
  readonly nodeIPs: readonly string[];
  readonly allocatable: ResourceList;
  readonly dataDirectory: string;
  /** Real paths of what this program keeps for itself; no pod gets to see it. */
  readonly keptPaths: readonly string[];
  /** What containers get to end by themselves when the agent ends. */
  readonly shutdownGraceMs: number;
  readonly cluster: ClusterDns;
  /** The host's own resolv.conf and hosts, read when a pod starts. */
  readonly hostResolver: () => ResolverConfig;
  readonly hostHosts: () => string;
  readonly services: () => readonly Service[];
  readonly readConfigMap: (namespace: string, name: string) => Promise<ConfigMap | undefined>;
  readonly readSecret: (namespace: string, name: string) => Promise<Secret | undefined>;
  readonly report: (pod: Pod, status: PodStatus) => void;
  /** Resolves when what was last reported of the pod has been written, or the pod is gone. */
  readonly reported: (uid: string) => Promise<void>;
  /** Removes the pod from the API: nothing of it is left here. */
  readonly finishDeletion: (pod: Pod) => Promise<void>;
  /** Resolves when nobody sends traffic to the pod any more, or has had long enough to stop. */
  readonly released: (pod: Pod) => Promise<void>;
};

/** An agent that is told to end does not take as long as the pods would like. */
export const defaultShutdownGraceMs = 2000;
