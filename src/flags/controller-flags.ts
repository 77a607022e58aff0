// The flags of the controllers for `up` and `controllers`, with kube-controller-manager's names and bounds.
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
  /** Commander's name of the value. */
  readonly key: string;
  readonly flag: string;
  readonly meaning: string;
  readonly setting: Setting;
  readonly limits: NumberLimits;
};
type TimeFlag = Omit<NumberFlag, 'limits'>;

/** Upstream's bounds for endpoints. Others have no bounds there, but more concurrency does not help. */
const syncLimits: NumberLimits = { min: 1, max: 50 };
const sizeLimits: NumberLimits = { min: 1, max: 1000 };
/** Upstream's flag is a 32-bit number. */
const unlimited = 2 ** 31 - 1;

const numberFlags = [
  {
    key: 'concurrentEndpointSyncs',
    flag: '--concurrent-endpoint-syncs <n>',
    meaning: 'Number of Endpoints to sync concurrently',
    setting: 'concurrentEndpointSyncs',
    limits: syncLimits,
  },
  {
    key: 'concurrentServiceEndpointSyncs',
    flag: '--concurrent-service-endpoint-syncs <n>',
    meaning: 'Number of Services whose EndpointSlices to sync concurrently',
    setting: 'concurrentServiceEndpointSyncs',
    limits: syncLimits,
  },
  {
    key: 'mirroringConcurrentServiceEndpointSyncs',
    flag: '--mirroring-concurrent-service-endpoint-syncs <n>',
    meaning: 'Number of Endpoints to mirror concurrently',
    setting: 'mirroringConcurrentServiceEndpointSyncs',
    limits: syncLimits,
  },
  {
    key: 'concurrentDeploymentSyncs',
    flag: '--concurrent-deployment-syncs <n>',
    meaning: 'Number of Deployments to sync concurrently',
    setting: 'concurrentDeploymentSyncs',
    limits: syncLimits,
  },
  {
    key: 'concurrentDaemonsetSyncs',
    flag: '--concurrent-daemonset-syncs <n>',
    meaning: 'Number of DaemonSets to sync concurrently',
    setting: 'concurrentDaemonSetSyncs',
    limits: syncLimits,
  },
  {
    key: 'concurrentStatefulsetSyncs',
    flag: '--concurrent-statefulset-syncs <n>',
    meaning: 'Number of StatefulSets to sync concurrently',
    setting: 'concurrentStatefulSetSyncs',
    limits: syncLimits,
  },
  {
    key: 'concurrentReplicasetSyncs',
    flag: '--concurrent-replicaset-syncs <n>',
    meaning: 'Number of ReplicaSets to sync concurrently',
    setting: 'concurrentReplicaSetSyncs',
    limits: syncLimits,
  },
  {
    key: 'concurrentRcSyncs',
    flag: '--concurrent-rc-syncs <n>',
    meaning: 'Number of ReplicationControllers to sync concurrently',
    setting: 'concurrentReplicationControllerSyncs',
    limits: syncLimits,
  },
  {
    key: 'concurrentJobSyncs',
    flag: '--concurrent-job-syncs <n>',
    meaning: 'Number of Jobs to sync concurrently',
    setting: 'concurrentJobSyncs',
    limits: syncLimits,
  },
  {
    key: 'concurrentCronJobSyncs',
    flag: '--concurrent-cron-job-syncs <n>',
    meaning: 'Number of CronJobs to sync concurrently',
    setting: 'concurrentCronJobSyncs',
    limits: syncLimits,
  },
  {
    key: 'concurrentTtlAfterFinishedSyncs',
    flag: '--concurrent-ttl-after-finished-syncs <n>',
    meaning: 'Number of finished Jobs to check for expiry concurrently',
    setting: 'concurrentTtlAfterFinishedSyncs',
    limits: syncLimits,
  },
  {
    key: 'concurrentNamespaceSyncs',
    flag: '--concurrent-namespace-syncs <n>',
    meaning: 'Number of terminating namespaces to sync concurrently',
    setting: 'concurrentNamespaceSyncs',
    limits: syncLimits,
  },
  {
    key: 'concurrentGcSyncs',
    flag: '--concurrent-gc-syncs <n>',
    meaning: 'Number of garbage collector workers',
    setting: 'concurrentGarbageCollectorSyncs',
    limits: syncLimits,
  },
  {
    key: 'maxEndpointsPerSlice',
    flag: '--max-endpoints-per-slice <n>',
    meaning: 'Maximum number of endpoints per EndpointSlice',
    setting: 'maxEndpointsPerSlice',
    limits: sizeLimits,
  },
  {
    key: 'mirroringMaxEndpointsPerSubset',
    flag: '--mirroring-max-endpoints-per-subset <n>',
    meaning: 'Maximum number of addresses that are mirrored per Endpoints subset',
    setting: 'mirroringMaxEndpointsPerSubset',
    limits: sizeLimits,
  },
  {
    key: 'terminatedPodGcThreshold',
    flag: '--terminated-pod-gc-threshold <n>',
    meaning:
      'Number of terminated pods that may exist before the garbage collector deletes the oldest. 0 disables their collection',
    setting: 'terminatedPodGcThreshold',
    limits: { min: 0, max: unlimited },
  },
] as const satisfies readonly NumberFlag[];

const timeFlags = [
  {
    key: 'endpointUpdatesBatchPeriod',
    flag: '--endpoint-updates-batch-period <time>',
    meaning: 'Time for which pod changes are batched into one update of Endpoints',
    setting: 'endpointUpdatesBatchMs',
  },
  {
    key: 'endpointsliceUpdatesBatchPeriod',
    flag: '--endpointslice-updates-batch-period <time>',
    meaning: 'Time for which pod changes are batched into one update of EndpointSlices',
    setting: 'endpointSliceUpdatesBatchMs',
  },
  {
    key: 'mirroringEndpointsliceUpdatesBatchPeriod',
    flag: '--mirroring-endpointslice-updates-batch-period <time>',
    meaning: 'Time for which changes of Endpoints are batched before they are mirrored',
    setting: 'mirroringEndpointSliceUpdatesBatchMs',
  },
  {
    key: 'nodeMonitorGracePeriod',
    flag: '--node-monitor-grace-period <time>',
    meaning: 'Time without a heartbeat after which a node is marked unhealthy',
    setting: 'nodeMonitorGraceMs',
  },
  {
    key: 'nodeStartupGracePeriod',
    flag: '--node-startup-grace-period <time>',
    meaning: 'Time after which a node that has never reported is marked unhealthy',
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
    'Controllers to run, separated by commas. "*" enables all, NAME enables one, -NAME disables one',
    chosenControllers,
    allControllers,
    '*',
  );
  for (const { flag, meaning, setting, limits } of numberFlags) {
    const usual = defaultSettings[setting];
    const bounds = limits.max < unlimited ? `, ${limits.min} to ${limits.max}` : '';
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

/** The settings of the flags that are set. */
export function controllerSettings(flags: Partial<ControllerFlags>): Partial<ControllerSettings> {
  const numbers = Object.fromEntries(
    [...numberFlags, ...timeFlags].flatMap(({ key, setting }) => {
      const value = flags[key];
      return value === undefined ? [] : [[setting, value]];
    }),
  );
  return { ...numbers, ...nodeIpamSettings(flags) };
}
