// Labels and status of the agent's Node.
import { isIPv6 } from '../../ip/address.ts';
import type { NodeCondition, NodeStatus } from '../../kinds/node/types.ts';
import {
  archLabel,
  betaArchLabel,
  betaOsLabel,
  hostnameLabel,
  osLabel,
} from '../../meta/well-known-labels.ts';
import { formatTime } from '../../schema/time.ts';

export type MachineFacts = {
  readonly cpus: number;
  readonly memoryBytes: number;
  /** Size of the file system with the agent's data directory, where pods write. */
  readonly diskBytes: number;
  readonly machineId: string;
  readonly bootId: string;
  readonly kernelVersion: string;
  readonly osImage: string;
  /** GOARCH: amd64, arm64. */
  readonly architecture: string;
};

export type NodeStatusOptions = {
  readonly name: string;
  readonly ips: readonly string[];
  readonly port: number;
  readonly facts: MachineFacts;
  readonly runtimeVersion: string;
  readonly agentVersion: string;
  readonly maxPods: number;
  readonly before: NodeStatus['conditions'];
  readonly now: number;
  /** The pod network, where pods have one of their own, and why it is not ready. */
  readonly network?: { readonly problem?: string };
  /** Absent: it has none. */
  readonly images?: NodeStatus['images'];
};

export function nodeLabels(
  name: string,
  { architecture }: MachineFacts,
): Readonly<Record<string, string>> {
  return {
    [hostnameLabel]: name,
    [osLabel]: 'linux',
    [archLabel]: architecture,
    [betaOsLabel]: 'linux',
    [betaArchLabel]: architecture,
  };
}

export function capacity(
  { cpus, memoryBytes, diskBytes }: MachineFacts,
  maxPods: number,
): Readonly<Record<string, string>> {
  return {
    cpu: String(cpus),
    'ephemeral-storage': `${Math.floor(diskBytes / 1024)}Ki`,
    memory: `${Math.floor(memoryBytes / 1024)}Ki`,
    pods: String(maxPods),
  };
}

export function nodeStatus(options: NodeStatusOptions): NodeStatus {
  const { name, ips, port, facts, runtimeVersion, agentVersion, maxPods } = options;
  const quantities = capacity(facts, maxPods);
  return {
    capacity: quantities,
    allocatable: quantities,
    conditions: [...conditions(options)],
    addresses: [
      ...[...ips]
        .sort((a, b) => Number(isIPv6(a)) - Number(isIPv6(b)))
        .map((address) => ({ type: 'InternalIP', address })),
      { type: 'Hostname', address: name },
    ],
    ...(options.images === undefined ? {} : { images: options.images }),
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
    nodeInfo: {
      machineID: facts.machineId,
      systemUUID: facts.machineId,
      bootID: facts.bootId,
      kernelVersion: facts.kernelVersion,
      osImage: facts.osImage,
      containerRuntimeVersion: runtimeVersion,
      kubeletVersion: agentVersion,
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: facts.architecture,
    },
  };
}

type ConditionSpec = readonly [
  type: string,
  status: 'True' | 'False',
  reason: string,
  message: string,
];

const fixedConditions: readonly ConditionSpec[] = [
  [
    'MemoryPressure',
    'False',
    'KubeletHasSufficientMemory',
    'kubelet has sufficient memory available',
  ],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
];

const ready: ConditionSpec = ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'];

/** A missing pod network shows in two conditions: that of the kubelet, and that of a route controller. */
function networkConditions(network: NodeStatusOptions['network']): readonly ConditionSpec[] {
  if (network === undefined) return [ready];
  const { problem } = network;
  if (problem === undefined) {
    return [
      ['NetworkUnavailable', 'False', 'BridgeIsUp', 'pods have a network on this node'],
      ready,
    ];
  }
  const message = `container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:${problem}`;
  return [
    ['NetworkUnavailable', 'True', 'BridgeIsMissing', problem],
    ['Ready', 'False', 'KubeletNotReady', message],
  ];
}

function conditions({ before = [], now, network }: NodeStatusOptions): readonly NodeCondition[] {
  const time = formatTime(now);
  return [...fixedConditions, ...networkConditions(network)].map(
    ([type, status, reason, message]) => {
      const last = before.find((condition) => condition.type === type);
      return {
        type,
        status,
        lastHeartbeatTime: time,
        lastTransitionTime: last?.status === status ? (last.lastTransitionTime ?? time) : time,
        reason,
        message,
      };
    },
  );
}
