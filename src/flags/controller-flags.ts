// The flags of the controllers, which `up` and `controllers` share: kube-controller-manager's names and bounds.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { allControllers } from '../controllers/all.ts';
import { chooseControllers } from '../controllers/choose.ts';
import type { Controller } from '../controllers/controller.ts';
import { type ControllerSettings, defaultSettings } from '../controllers/settings.ts';
import { addNodeIpamFlags, type NodeIpamFlags, nodeIpamSettings } from './node-ipam-flags.ts';
import { duration, formatDuration, type NumberLimits, wholeNumber } from './parse-values.ts';

export type ControllerFlags = { readonly controllers: readonly Controller[] } & Readonly<
  Record<FlagKey, number>
> &
  NodeIpamFlags;

type FlagKey = (typeof numberFlags | typeof timeFlags)[number]['key'];

type Setting = Exclude<keyof ControllerSettings, 'nodeIpam'>;
type NumberFlag = {
  /** As commander makes it of the flag. */
  readonly key: string;
  readonly flag: string;
  readonly meaning: string;
  readonly setting: Setting;
  readonly limits: NumberLimits;
};
type TimeFlag = Omit<NumberFlag, 'limits'>;

/** Upstream's for endpoints; the others have none there, and no more than this ever helps. */
const syncLimits: NumberLimits = { least: 1, most: 50 };
const sizeLimits: NumberLimits = { least: 1, most: 1000 };
/** Of a 32-bit number, which is what upstream's flag holds. */
const unlimited = 2 ** 31 - 1;

const numberFlags = [
  {
    key: 'concurrentEndpointSyncs',
    flag: '--concurrent-endpoint-syncs <n>',
    meaning: 'Endpoints worked on at a time',
    setting: 'concurrentEndpointSyncs',
    limits: syncLimits,
  },
  {
    key: 'concurrentServiceEndpointSyncs',
    flag: '--concurrent-service-endpoint-syncs <n>',
    meaning: 'services whose EndpointSlices are worked on at a time',
    setting: 'concurrentServiceEndpointSyncs',
    limits: syncLimits,
  },
  {
    key: 'mirroringConcurrentServiceEndpointSyncs',
    flag: '--mirroring-concurrent-service-endpoint-syncs <n>',
    meaning: 'Endpoints that are mirrored at a time',
    setting: 'mirroringConcurrentServiceEndpointSyncs',
    limits: syncLimits,
  },
  {
    key: 'concurrentDeploymentSyncs',
    flag: '--concurrent-deployment-syncs <n>',
    meaning: 'deployments worked on at a time',
    setting: 'concurrentDeploymentSyncs',
    limits: syncLimits,
  },
  {
    key: 'concurrentReplicasetSyncs',
    flag: '--concurrent-replicaset-syncs <n>',
    meaning: 'replica sets worked on at a time',
    setting: 'concurrentReplicaSetSyncs',
    limits: syncLimits,
  },
  {
    key: 'concurrentRcSyncs',
    flag: '--concurrent-rc-syncs <n>',
    meaning: 'replication controllers worked on at a time',
    setting: 'concurrentReplicationControllerSyncs',
    limits: syncLimits,
  },
  {
    key: 'concurrentNamespaceSyncs',
    flag: '--concurrent-namespace-syncs <n>',
    meaning: 'namespaces that are emptied at a time',
    setting: 'concurrentNamespaceSyncs',
    limits: syncLimits,
  },
  {
    key: 'concurrentGcSyncs',
    flag: '--concurrent-gc-syncs <n>',
    meaning: 'objects whose owners are looked for at a time',
    setting: 'concurrentGarbageCollectorSyncs',
    limits: syncLimits,
  },
  {
    key: 'maxEndpointsPerSlice',
    flag: '--max-endpoints-per-slice <n>',
    meaning: 'endpoints in one EndpointSlice at most',
    setting: 'maxEndpointsPerSlice',
    limits: sizeLimits,
  },
  {
    key: 'mirroringMaxEndpointsPerSubset',
    flag: '--mirroring-max-endpoints-per-subset <n>',
    meaning: 'addresses of one Endpoints subset that are mirrored at most',
    setting: 'mirroringMaxEndpointsPerSubset',
    limits: sizeLimits,
  },
  {
    key: 'terminatedPodGcThreshold',
    flag: '--terminated-pod-gc-threshold <n>',
    meaning: 'ended pods that are kept at most, 0 for all',
    setting: 'terminatedPodGcThreshold',
    limits: { least: 0, most: unlimited },
  },
] as const satisfies readonly NumberFlag[];

const timeFlags = [
  {
    key: 'endpointUpdatesBatchPeriod',
    flag: '--endpoint-updates-batch-period <time>',
    meaning: 'how long changes of pods are gathered into one write of Endpoints',
    setting: 'endpointUpdatesBatchMs',
  },
  {
    key: 'endpointsliceUpdatesBatchPeriod',
    flag: '--endpointslice-updates-batch-period <time>',
    meaning: 'the same for EndpointSlices',
    setting: 'endpointSliceUpdatesBatchMs',
  },
  {
    key: 'mirroringEndpointsliceUpdatesBatchPeriod',
    flag: '--mirroring-endpointslice-updates-batch-period <time>',
    meaning: 'how long changes of Endpoints are gathered before they are mirrored',
    setting: 'mirroringEndpointSliceUpdatesBatchMs',
  },
  {
    key: 'nodeMonitorGracePeriod',
    flag: '--node-monitor-grace-period <time>',
    meaning: 'how long a node may be silent before it counts as lost',
    setting: 'nodeMonitorGraceMs',
  },
  {
    key: 'nodeStartupGracePeriod',
    flag: '--node-startup-grace-period <time>',
    meaning: 'the same for a node that has never reported',
    setting: 'nodeStartupGraceMs',
  },
] as const satisfies readonly TimeFlag[];

export function addControllerFlags(command: Command): Command {
  const add = <T>(
    flag: string,
    meaning: string,
    parse: (text: string) => T,
    usual: T,
    as: string,
  ) => command.addOption(new Option(flag, meaning).argParser(parse).default(usual, as));
  add(
    '--controllers <names>',
    'controllers to run: * for all, NAME for one, -NAME for all but that, with commas between',
    chosenControllers,
    allControllers,
    '*',
  );
  for (const { flag, meaning, setting, limits } of numberFlags) {
    const usual = defaultSettings[setting];
    const bounds = limits.most < unlimited ? `, ${limits.least} to ${limits.most}` : '';
    add(flag, `${meaning}${bounds}`, wholeNumber(limits), usual, String(usual));
  }
  for (const { flag, meaning, setting } of timeFlags) {
    const usual = defaultSettings[setting];
    const minMs = setting.startsWith('node') ? 1000 : 0;
    add(flag, meaning, duration({ minMs }), usual, formatDuration(usual));
  }
  return addNodeIpamFlags(command);
}

function chosenControllers(text: string): readonly Controller[] {
  const words = text.split(',').map((word) => word.trim());
  const choice = chooseControllers(
    allControllers,
    words.filter((word) => word !== ''),
  );
  if ('controllers' in choice) return choice.controllers;
  const names = allControllers.map(({ name }) => name).join(', ');
  throw new InvalidArgumentError(
    `"${choice.unknown.join(', ')}" is not in the list of known controllers: ${names}.`,
  );
}

/** What was set, for the controllers. */
export function controllerSettings(flags: Partial<ControllerFlags>): Partial<ControllerSettings> {
  const numbers = Object.fromEntries(
    [...numberFlags, ...timeFlags].flatMap(({ key, setting }) => {
      const value = flags[key];
      return value === undefined ? [] : [[setting, value]];
    }),
  );
  return { ...numbers, ...nodeIpamSettings(flags) };
}
