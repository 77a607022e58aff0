// What the agent says of its node.
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
  /** Of the file system that holds what pods write: the agent's data directory. */
  readonly diskBytes: number;
  readonly machineId: string;
  readonly bootId: string;
  readonly kernelVersion: string;
  readonly osImage: string;
  /** As Go names it: amd64, arm64. */
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
  /** Of the pods, where they have one of their own, and what keeps it from working. */
  readonly network?: { readonly problem?: string };
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

type Said = readonly [type: string, status: 'True' | 'False', reason: string, message: string];

const said: readonly Said[] = [
  [
    'MemoryPressure',
    'False',
    'KubeletHasSufficientMemory',
    'kubelet has sufficient memory available',
  ],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
];

const ready: Said = ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'];

/** A node whose pods have no network says so twice, as a kubelet does and whoever makes the routes between nodes. */
function networkConditions(network: NodeStatusOptions['network']): readonly Said[] {
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
  return [...said, ...networkConditions(network)].map(([type, status, reason, message]) => {
    const last = before.find((condition) => condition.type === type);
    return {
      type,
      status,
      lastHeartbeatTime: time,
      lastTransitionTime: last?.status === status ? (last.lastTransitionTime ?? time) : time,
      reason,
      message,
    };
  });
}
