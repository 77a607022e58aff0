// The flags of the node proxy, with kube-proxy's names, and their settings.
import { type Command, InvalidArgumentError } from 'commander';
import type { ListenAddress, ProxySettings } from '../proxy/config.ts';
import { allModes } from '../proxy/modes/all.ts';
import type { ModeDescription, ModeFlag, ModeSettings } from '../proxy/modes/mode.ts';
import { type LocalMode, localModes } from '../proxy/node-view/local-traffic.ts';
import { listenAddress } from './metrics-flags.ts';
import { ipAddress } from './parse-flags.ts';
import { duration, wholeNumber } from './parse-values.ts';

export type ProxyFlags = {
  readonly hostnameOverride?: string;
  readonly bindAddress?: string;
  readonly proxyMode?: string;
  readonly clusterCidr?: readonly string[];
  readonly detectLocalMode?: LocalMode;
  readonly podBridgeInterface?: string;
  readonly podInterfaceNamePrefix?: string;
  readonly nodeportAddresses?: readonly string[];
  readonly masqueradeAll?: boolean;
  readonly iptablesMasqueradeBit?: number;
  readonly minSyncPeriod?: number;
  readonly syncPeriod?: number;
  readonly healthzBindAddress?: ListenAddress | 'none';
  readonly metricsBindAddress?: ListenAddress | 'none';
  readonly conntrackMaxPerCore?: number;
  readonly conntrackMin?: number;
  readonly conntrackTcpTimeoutEstablished?: number;
  readonly conntrackTcpTimeoutCloseWait?: number;
  readonly conntrackUdpTimeout?: number;
  readonly conntrackUdpTimeoutStream?: number;
  readonly conntrackTcpBeLiberal?: boolean;
  readonly conntrackAccounting?: boolean;
  readonly featureGates?: Readonly<Record<string, boolean>>;
  readonly allowForeignAddresses?: true;
  /** Flags of single modes. */
  readonly [modeFlag: string]: unknown;
};

type Modes = readonly ModeDescription[];

const tableSize = wholeNumber({ min: 0, max: 2 ** 31 - 1 });

/** The flags that `up` also has. */
export function addModeFlags(command: Command, modes: Modes = allModes): Command {
  const names = modes.map(({ name }) => name);
  command
    .option(
      '--proxy-mode <mode>',
      `Proxy mode: ${alternatives(names)} (default: the first of these that works)`,
      modeName(names),
    )
    .option(
      '--nodeport-addresses <cidrs>',
      `CIDRs of the node addresses that accept NodePort connections, or "primary" for the node's primary addresses (default: depends on the mode)`,
      list,
    );
  addFlagsOfModes(command, modes, ({ isForUp = false }) => isForUp);
  return command.option(
    '--allow-foreign-addresses',
    'Allows external IPs and load balancer IPs that are addresses of nodes, pods or other Services, as kube-proxy does (default: refused, with an event)',
  );
}

function addFlagsOfModes(
  command: Command,
  modes: Modes,
  isIncluded: (flag: ModeFlag) => boolean,
): void {
  for (const { name: mode, flags = [] } of modes) {
    for (const { name, value, help } of flags.filter(isIncluded)) {
      command.option(`--${name}${value === undefined ? '' : ` ${value}`}`, `${mode}: ${help}`);
    }
  }
}

export function addProxyFlags(command: Command, modes: Modes = allModes): Command {
  addModeFlags(command, modes)
    .option('--hostname-override <name>', 'Name of this node (default: the host name)')
    .option(
      '--bind-address <ip>',
      'IP address of this node (default: the address of its Node object)',
      ipAddress,
    )
    .option(
      '--cluster-cidr <cidrs>',
      'CIDRs of all pods, one per IP family, separated by commas',
      list,
    )
    .option(
      '--detect-local-mode <mode>',
      `How traffic from pods of this node is detected: ${localModes.join(', ')} (default: ClusterCIDR)`,
      localMode,
    )
    .option(
      '--pod-bridge-interface <name>',
      'Bridge of the pods, for --detect-local-mode BridgeInterface',
    )
    .option(
      '--pod-interface-name-prefix <prefix>',
      "Prefix of the pods' network interfaces, for --detect-local-mode InterfaceNamePrefix",
    )
    .option('--masquerade-all', 'Masquerades all traffic to cluster IPs')
    .option(
      '--iptables-masquerade-bit <bit>',
      'Bit of the packet mark that selects packets to masquerade (default: 14)',
      wholeNumber({ min: 0, max: 31 }),
    );
  addPeriodFlags(command, modes);
  addConntrackFlags(command);
  addFlagsOfModes(command, modes, ({ isForUp = false }) => !isForUp);
  return command;
}

function addPeriodFlags(command: Command, modes: Modes): void {
  command
    .option(
      '--min-sync-period <time>',
      'Minimum time between two updates of the rules (default: four times what the last update took, 10ms to 1s)',
      duration(),
    )
    .option(
      '--sync-period <time>',
      'Interval of checking the rules and retrying failures (default: 30s)',
      duration({ minMs: 1 }),
    );
  for (const { name } of modes.filter(({ hasSyncPeriodFlags = false }) => hasSyncPeriodFlags)) {
    command
      .option(`--${name}-min-sync-period <time>`, `--min-sync-period for mode ${name}`, duration())
      .option(
        `--${name}-sync-period <time>`,
        `--sync-period for mode ${name}`,
        duration({ minMs: 1 }),
      );
  }
  command
    .option(
      '--healthz-bind-address <address>',
      'IP address and port that serve /healthz and /livez. Empty disables them (default: 0.0.0.0:10256)',
      listenOrNone,
    )
    .option(
      '--metrics-bind-address <address>',
      'IP address and port that serve /metrics, /proxyMode and /configz. Empty disables them (default: 127.0.0.1:10249)',
      listenOrNone,
    )
    .option(
      '--feature-gates <gates>',
      'Feature gates. AllowServiceExternalIPs=false ignores external IPs',
      gates,
    );
}

function addConntrackFlags(command: Command): void {
  command
    .option(
      '--conntrack-max-per-core <count>',
      "Maximum number of tracked connections per CPU core. 0 leaves the kernel's limit unchanged (default: 32768)",
      tableSize,
    )
    .option(
      '--conntrack-min <count>',
      'Minimum number of tracked connections, regardless of --conntrack-max-per-core (default: 131072)',
      tableSize,
    )
    .option(
      '--conntrack-tcp-timeout-established <time>',
      'Idle timeout of established TCP connections. 0 leaves it unchanged (default: 24h)',
      duration(),
    )
    .option(
      '--conntrack-tcp-timeout-close-wait <time>',
      'Timeout of TCP connections in state CLOSE_WAIT. 0 leaves it unchanged (default: 1h)',
      duration(),
    )
    .option(
      '--conntrack-udp-timeout <time>',
      'Idle timeout of UDP flows without replies. 0 leaves it unchanged (default: 0)',
      duration(),
    )
    .option(
      '--conntrack-udp-timeout-stream <time>',
      'Idle timeout of UDP flows with replies. 0 leaves it unchanged (default: 0)',
      duration(),
    )
    .option(
      '--conntrack-tcp-be-liberal',
      'Does not mark TCP packets outside of the window as invalid',
    )
    .option(
      '--conntrack-accounting',
      'Lets the kernel count the bytes of each connection, for `fairlead top` (default: its setting is unchanged)',
    );
}

function modeName(names: readonly string[]): (text: string) => string {
  return (text) => {
    if (names.includes(text)) return text;
    throw new InvalidArgumentError(
      `"${text}" is not a mode; it must be one of ${names.join(', ')}.`,
    );
  };
}

const alternatives = (names: readonly string[]): string =>
  names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;

function localMode(text: string): LocalMode {
  const known = localModes.find((name) => name === text);
  if (known !== undefined) return known;
  throw new InvalidArgumentError(
    `"${text}" is not a local mode; it must be one of ${localModes.join(', ')}.`,
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
      throw new InvalidArgumentError(
        `"${pair}" is not a feature gate; it must be one like Name=true.`,
      );
    }),
  );
}

export type ModeFlags = Pick<
  ProxyFlags,
  'proxyMode' | 'nodeportAddresses' | 'allowForeignAddresses'
>;

/** The settings of the flags of `addModeFlags`. */
export function modeFlagSettings(flags: ModeFlags, modes: Modes = allModes): ProxySettings {
  return {
    ...given('mode', flags.proxyMode),
    ...given('nodePortAddresses', flags.nodeportAddresses),
    ...given('allowsForeignAddresses', flags.allowForeignAddresses),
    modeSettings: modeSettings(flags, modes),
  };
}

/** The settings of the flags that are set. */
export function flagSettings(flags: ProxyFlags, modes: Modes = allModes): ProxySettings {
  const mode = modes.find(({ name }) => name === flags.proxyMode);
  return {
    ...modeFlagSettings(flags, modes),
    ...given('nodeName', flags.hostnameOverride),
    ...given('bindAddress', flags.bindAddress),
    ...given('clusterCIDRs', flags.clusterCidr),
    ...given('detectLocalMode', flags.detectLocalMode),
    ...given('bridgeInterface', flags.podBridgeInterface),
    ...given('interfaceNamePrefix', flags.podInterfaceNamePrefix),
    ...given('masqueradeAll', flags.masqueradeAll),
    ...given('masqueradeBit', flags.iptablesMasqueradeBit),
    ...given('minSyncPeriodMs', flags.minSyncPeriod ?? periodOf(mode, flags, 'min-sync-period')),
    ...given('syncPeriodMs', flags.syncPeriod ?? periodOf(mode, flags, 'sync-period')),
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
      ...given('accounting', flags.conntrackAccounting),
    },
  };
}

function given<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { readonly [P in K]?: V };
}

/** kube-proxy has these flags per mode; those of the requested mode apply. */
function periodOf(
  mode: ModeDescription | undefined,
  flags: ProxyFlags,
  period: 'min-sync-period' | 'sync-period',
): number | undefined {
  if (mode?.hasSyncPeriodFlags !== true) return undefined;
  const value = flags[optionKey(`${mode.name}-${period}`)];
  return typeof value === 'number' ? value : undefined;
}

function modeSettings(flags: Readonly<Record<string, unknown>>, modes: Modes): ModeSettings {
  const settings: Record<string, string> = {};
  for (const { name } of modes.flatMap((mode) => mode.flags ?? [])) {
    const value = flags[optionKey(name)];
    if (value !== undefined) settings[name] = String(value);
  }
  return settings;
}

/** Commander's name of the value of a flag. */
const optionKey = (flag: string): string =>
  flag.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());

const externalIPsGate = 'AllowServiceExternalIPs';

/** Feature gates of kube-proxy without an effect here, which are accepted so that its command lines work. */
export function unknownGates({
  featureGates = {},
}: Pick<ProxyFlags, 'featureGates'>): readonly string[] {
  return Object.keys(featureGates).filter((gate) => gate !== externalIPsGate);
}
