// The flags of the proxy, under kube-proxy's names, and the settings they stand for.
import { type Command, InvalidArgumentError } from 'commander';
import type { ListenAddress, ProxySettings } from '../proxy/config.ts';
import type { ModeName } from '../proxy/modes/mode.ts';
import { type LocalMode, localModes } from '../proxy/node-view/local-traffic.ts';
import { listenAddress } from './metrics-flags.ts';
import { ipAddress } from './parse-flags.ts';
import { duration, wholeNumber } from './parse-values.ts';

export type ProxyFlags = {
  readonly hostnameOverride?: string;
  readonly bindAddress?: string;
  readonly proxyMode?: ModeName;
  readonly clusterCidr?: readonly string[];
  readonly detectLocalMode?: LocalMode;
  readonly podBridgeInterface?: string;
  readonly podInterfaceNamePrefix?: string;
  readonly nodeportAddresses?: readonly string[];
  readonly masqueradeAll?: boolean;
  readonly iptablesMasqueradeBit?: number;
  readonly minSyncPeriod?: number;
  readonly syncPeriod?: number;
  readonly iptablesMinSyncPeriod?: number;
  readonly iptablesSyncPeriod?: number;
  readonly ipvsMinSyncPeriod?: number;
  readonly ipvsSyncPeriod?: number;
  readonly healthzBindAddress?: ListenAddress | 'none';
  readonly metricsBindAddress?: ListenAddress | 'none';
  readonly conntrackMaxPerCore?: number;
  readonly conntrackMin?: number;
  readonly conntrackTcpTimeoutEstablished?: number;
  readonly conntrackTcpTimeoutCloseWait?: number;
  readonly conntrackUdpTimeout?: number;
  readonly conntrackUdpTimeoutStream?: number;
  readonly conntrackTcpBeLiberal?: boolean;
  readonly featureGates?: Readonly<Record<string, boolean>>;
  readonly allowForeignAddresses?: true;
  readonly ipvsScheduler?: string;
  /** Flags of single modes, handed on as they are. */
  readonly [modeFlag: string]: unknown;
};

const modeNames = ['nftables', 'iptables', 'ipvs', 'userspace'] as const satisfies ModeName[];
const tableSize = wholeNumber({ least: 0, most: 2 ** 31 - 1 });

const schedulerFlag = [
  '--ipvs-scheduler <name>',
  'ipvs: how to choose: rr, wrr, lc, wlc, lblc, lblcr, sh, dh, sed, nq or mh (default: rr)',
] as const;

/** Handed to the mode under their own names, like the scheduler. */
const modeFlags: readonly (readonly [string, string])[] = [
  ['--iptables-localhost-nodeports <bool>', 'iptables: node ports on 127.0.0.1 (default: true)'],
  ['--ipvs-exclude-cidrs <cidrs>', 'ipvs: virtual servers to leave alone'],
  ['--ipvs-strict-arp', 'ipvs: answer ARP only for addresses of the interface asked'],
  ['--ipvs-tcp-timeout <time>', 'ipvs: idle time of TCP connections (default: leave it)'],
  [
    '--ipvs-tcpfin-timeout <time>',
    'ipvs: idle time of TCP connections after FIN (default: leave it)',
  ],
  ['--ipvs-udp-timeout <time>', 'ipvs: idle time of UDP flows (default: leave it)'],
  ['--proxy-port-range <range>', 'userspace: ports for relays (default: any free one)'],
  ['--udp-timeout <time>', 'userspace: how long an idle UDP flow is kept (default: 250ms)'],
];

/** Those that `up` has too. */
export function addModeFlags(command: Command): Command {
  return command
    .option(
      '--proxy-mode <mode>',
      'nftables, iptables, ipvs or userspace (default: the best that works)',
      modeName,
    )
    .option(
      '--nodeport-addresses <cidrs>',
      'where node ports answer: networks, or primary (default: as the mode does)',
      list,
    )
    .option(schedulerFlag[0], schedulerFlag[1])
    .option(
      '--allow-foreign-addresses',
      'let Services capture addresses of nodes, pods, cluster IPs and balancers of other Services by naming them as external IPs or in the status of a load balancer, as kube-proxy does (default: refused, with an event)',
    );
}

export function addProxyFlags(command: Command): Command {
  addModeFlags(command)
    .option('--hostname-override <name>', "name of this node (default: the machine's)")
    .option(
      '--bind-address <ip>',
      "this node's address (default: what its Node object says)",
      ipAddress,
    )
    .option('--cluster-cidr <cidrs>', 'ranges of all pods, one of each family', list)
    .option(
      '--detect-local-mode <mode>',
      `how pods of this node are told: ${localModes.join(', ')} (default: ClusterCIDR)`,
      localMode,
    )
    .option('--pod-bridge-interface <name>', 'bridge of the pods, for BridgeInterface')
    .option(
      '--pod-interface-name-prefix <prefix>',
      "how pods' interfaces begin, for InterfaceNamePrefix",
    )
    .option('--masquerade-all', 'hide the source of all traffic to cluster IPs')
    .option(
      '--iptables-masquerade-bit <bit>',
      'bit of the packet mark for masquerading (default: 14)',
      wholeNumber({ least: 0, most: 31 }),
    );
  addPeriodFlags(command);
  addConntrackFlags(command);
  for (const [flags, description] of modeFlags) command.option(flags, description);
  return command;
}

function addPeriodFlags(command: Command): void {
  command
    .option(
      '--min-sync-period <time>',
      'shortest time between two writes of rules (default: 1s)',
      duration(),
    )
    .option(
      '--sync-period <time>',
      'how often rules are checked and failures retried (default: 30s)',
      duration({ minMs: 1 }),
    )
    .option('--iptables-min-sync-period <time>', '--min-sync-period for mode iptables', duration())
    .option(
      '--iptables-sync-period <time>',
      '--sync-period for mode iptables',
      duration({ minMs: 1 }),
    )
    .option('--ipvs-min-sync-period <time>', '--min-sync-period for mode ipvs', duration())
    .option('--ipvs-sync-period <time>', '--sync-period for mode ipvs', duration({ minMs: 1 }))
    .option(
      '--healthz-bind-address <address>',
      'IP and port of /healthz and /livez, empty for none (default: 0.0.0.0:10256)',
      listenOrNone,
    )
    .option(
      '--metrics-bind-address <address>',
      'IP and port of /metrics, /proxyMode and /configz, empty for none (default: 127.0.0.1:10249)',
      listenOrNone,
    )
    .option(
      '--feature-gates <gates>',
      'AllowServiceExternalIPs=false leaves external IPs out',
      gates,
    );
}

function addConntrackFlags(command: Command): void {
  command
    .option(
      '--conntrack-max-per-core <count>',
      'connections the kernel may track for each core, 0 to leave it (default: 32768)',
      tableSize,
    )
    .option('--conntrack-min <count>', 'but at least so many (default: 131072)', tableSize)
    .option(
      '--conntrack-tcp-timeout-established <time>',
      'idle time of TCP connections, 0 to leave it (default: 24h)',
      duration(),
    )
    .option(
      '--conntrack-tcp-timeout-close-wait <time>',
      'idle time of half-closed TCP connections, 0 to leave it (default: 1h)',
      duration(),
    )
    .option(
      '--conntrack-udp-timeout <time>',
      'idle time of UDP flows, 0 to leave it (default: 0)',
      duration(),
    )
    .option(
      '--conntrack-udp-timeout-stream <time>',
      'idle time of UDP flows with answers, 0 to leave it (default: 0)',
      duration(),
    )
    .option('--conntrack-tcp-be-liberal', 'do not call TCP packets outside the window invalid');
}

function modeName(text: string): ModeName {
  const known = modeNames.find((name) => name === text);
  if (known !== undefined) return known;
  throw new InvalidArgumentError(
    `"${text}" is not a mode; it must be one of ${modeNames.join(', ')}.`,
  );
}

function localMode(text: string): LocalMode {
  const known = localModes.find((name) => name === text);
  if (known !== undefined) return known;
  throw new InvalidArgumentError(
    `"${text}" is not a way to tell pods; it must be one of ${localModes.join(', ')}.`,
  );
}

function list(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function listenOrNone(text: string): ListenAddress | 'none' {
  return listenAddress(text) ?? 'none';
}

function gates(text: string): Readonly<Record<string, boolean>> {
  return Object.fromEntries(
    list(text).map((pair) => {
      const [name = '', value] = pair.split('=');
      if (value === 'true' || value === 'false') return [name, value === 'true'];
      throw new InvalidArgumentError(`"${pair}" is not a gate; it must be like Name=true.`);
    }),
  );
}

export type ModeFlags = Pick<
  ProxyFlags,
  'proxyMode' | 'nodeportAddresses' | 'allowForeignAddresses'
> & {
  readonly ipvsScheduler?: string;
};

/** What the flags of `addModeFlags` say. */
export function modeFlagSettings(flags: ModeFlags): ProxySettings {
  return {
    ...given('mode', flags.proxyMode),
    ...given('nodePortAddresses', flags.nodeportAddresses),
    ...given('allowsForeignAddresses', flags.allowForeignAddresses),
    modeSettings: modeSettings(flags, [schedulerFlag]),
  };
}

/** What the flags that were given say. */
export function flagSettings(flags: ProxyFlags): ProxySettings {
  return {
    ...modeFlagSettings(flags),
    ...given('nodeName', flags.hostnameOverride),
    ...given('bindAddress', flags.bindAddress),
    ...given('clusterCIDRs', flags.clusterCidr),
    ...given('detectLocalMode', flags.detectLocalMode),
    ...given('bridgeInterface', flags.podBridgeInterface),
    ...given('interfaceNamePrefix', flags.podInterfaceNamePrefix),
    ...given('masqueradeAll', flags.masqueradeAll),
    ...given('masqueradeBit', flags.iptablesMasqueradeBit),
    ...given('minSyncPeriodMs', flags.minSyncPeriod ?? ofMode(flags, 'MinSyncPeriod')),
    ...given('syncPeriodMs', flags.syncPeriod ?? ofMode(flags, 'SyncPeriod')),
    ...given('healthz', flags.healthzBindAddress),
    ...given('metrics', flags.metricsBindAddress),
    ...given('allowsExternalIPs', flags.featureGates?.[externalIPsGate]),
    conntrack: {
      ...given('maxPerCore', flags.conntrackMaxPerCore),
      ...given('min', flags.conntrackMin),
      ...given('tcpEstablishedTimeoutMs', flags.conntrackTcpTimeoutEstablished),
      ...given('tcpCloseWaitTimeoutMs', flags.conntrackTcpTimeoutCloseWait),
      ...given('udpTimeoutMs', flags.conntrackUdpTimeout),
      ...given('udpStreamTimeoutMs', flags.conntrackUdpTimeoutStream),
      ...given('tcpBeLiberal', flags.conntrackTcpBeLiberal),
    },
    modeSettings: modeSettings(flags, [...modeFlags, schedulerFlag]),
  };
}

function given<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { readonly [P in K]?: V };
}

/** kube-proxy has these flags for each mode; they count for the mode that is asked for. */
function ofMode(flags: ProxyFlags, which: 'MinSyncPeriod' | 'SyncPeriod'): number | undefined {
  if (flags.proxyMode === 'iptables') return flags[`iptables${which}`];
  return flags.proxyMode === 'ipvs' ? flags[`ipvs${which}`] : undefined;
}

function modeSettings(
  flags: Readonly<Record<string, unknown>>,
  known: readonly (readonly [string, string])[],
): Readonly<Record<string, string>> {
  const settings: Record<string, string> = {};
  for (const [flag] of known) {
    const name = flag.split(' ')[0]?.slice(2) ?? '';
    const value = flags[name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())];
    if (value !== undefined) settings[name] = String(value);
  }
  return settings;
}

const externalIPsGate = 'AllowServiceExternalIPs';

/** Gates of kube-proxy that nothing here depends on: a command line that was made for it goes on working. */
export function unknownGates({
  featureGates = {},
}: Pick<ProxyFlags, 'featureGates'>): readonly string[] {
  return Object.keys(featureGates).filter((gate) => gate !== externalIPsGate);
}
