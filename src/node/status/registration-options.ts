// What the agent registers its node with.
import type { Clock } from '../../host/clock.ts';
import { volumesDirectoryAnnotation } from '../../kinds/persistent-volume/local-directory.ts';
import type { NodeImages } from '../images/run-node-images.ts';
import type { PodNetwork } from '../network/pod-network.ts';
import type { NodeOptions } from '../run.ts';
import { volumesDirectory } from '../volumes/run-claims.ts';
import { type NodeStatusOptions, nodeStatus } from './node-status.ts';
import { readMachine } from './read-machine.ts';
import type { RegistrationOptions } from './run-registration.ts';

/** The kubelet's default. */
export const defaultMaxPods = 110;

export type Registering = {
  readonly clock: Clock;
  /** Of the agent's server. */
  readonly port: number;
  readonly images?: NodeImages;
};

export function registrationOf(
  options: NodeOptions,
  { clock, port, images }: Registering,
): RegistrationOptions {
  const {
    caller,
    log,
    name,
    nodeIPs,
    labels = {},
    runtime,
    version,
    maxPods = defaultMaxPods,
  } = options;
  const facts = readMachine(options.dataDirectory);
  return {
    caller,
    clock,
    log,
    name,
    labels,
    annotations: { [volumesDirectoryAnnotation]: volumesDirectory(options.dataDirectory) },
    facts,
    onStatusChange(listener) {
      options.network?.onProblemChange(listener);
      images?.onChange(listener);
    },
    status: (before) =>
      nodeStatus({
        name,
        ips: nodeIPs,
        port,
        facts,
        runtimeVersion: `${runtime.name}://${runtime.version}`,
        agentVersion: version,
        maxPods,
        before,
        now: clock.now(),
        ...networkState(options.network),
        ...(images === undefined ? {} : { images: images.status() }),
      }),
  };
}

function networkState(network: PodNetwork | undefined): Pick<NodeStatusOptions, 'network'> {
  if (network?.reportsCondition !== true) return {};
  const problem = network.problem();
  return { network: problem === undefined ? {} : { problem } };
}
