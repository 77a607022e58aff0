// The settings of a proxy, whether they come from flags or from a file.
import { parseAddress } from '../ip/address.ts';
import { parseCidr } from '../ip/cidr.ts';
import type { ModeDescription, ModeSettings } from './modes/mode.ts';
import type { LocalDetection, LocalMode } from './node-view/local-traffic.ts';
import { primaryOnly } from './node-view/node-addresses.ts';

export type ListenAddress = { readonly host: string; readonly port: number };

export type ConntrackSettings = {
  /** Connections the kernel may track, for each core; 0 leaves its setting alone. */
  readonly maxPerCore: number;
  /** But never fewer than this. */
  readonly min: number;
  /** 0 leaves the kernel's setting alone, here and below. */
  readonly tcpEstablishedTimeoutMs: number;
  readonly tcpCloseWaitTimeoutMs: number;
  readonly udpTimeoutMs: number;
  readonly udpStreamTimeoutMs: number;
  /** Do not call packets outside the window invalid. */
  readonly tcpBeLiberal: boolean;
  /** Counts the bytes of each connection, for `fairlead top`. */
  readonly accounting: boolean;
};

export type ProxyConfig = {
  /** Absent: the machine's name. */
  readonly nodeName?: string;
  /** The node's address; unspecified: what its Node object says. */
  readonly bindAddress: string;
  /** Absent: the best that works here. */
  readonly mode?: string;
  readonly local: LocalDetection;
  /** Ranges, the word `primary`, or nothing for what the mode does by itself. */
  readonly nodePortAddresses: readonly string[];
  readonly masqueradeAll: boolean;
  /** Bit of the packet mark that asks for masquerading. */
  readonly masqueradeBit: number;
  /** Absent: in proportion to how long a sync takes, 1 s at most. */
  readonly minSyncPeriodMs?: number;
  readonly syncPeriodMs: number;
  /** Absent: not served. */
  readonly healthz?: ListenAddress;
  readonly metrics?: ListenAddress;
  readonly conntrack: ConntrackSettings;
  readonly allowsExternalIPs: boolean;
  /** Captures addresses that others own when a Service names them, as kube-proxy does. */
  readonly allowsForeignAddresses: boolean;
  readonly modeSettings: ModeSettings;
};

const hourMs = 3_600_000;

export const defaultConfig: ProxyConfig = {
  bindAddress: '0.0.0.0',
  local: { mode: 'ClusterCIDR', clusterCIDRs: [], bridgeInterface: '', interfaceNamePrefix: '' },
  nodePortAddresses: [],
  masqueradeAll: false,
  masqueradeBit: 14,
  syncPeriodMs: 30_000,
  healthz: { host: '0.0.0.0', port: 10256 },
  metrics: { host: '127.0.0.1', port: 10249 },
  // kube-proxy's limits and timeouts of connection tracking (KPX-47).
  conntrack: {
    maxPerCore: 32_768,
    min: 131_072,
    tcpEstablishedTimeoutMs: 24 * hourMs,
    tcpCloseWaitTimeoutMs: hourMs,
    udpTimeoutMs: 0,
    udpStreamTimeoutMs: 0,
    tcpBeLiberal: false,
    accounting: false,
  },
  allowsExternalIPs: true,
  allowsForeignAddresses: false,
  modeSettings: {},
};

/** What one source of settings says; what it leaves out is up to the next. */
export type ProxySettings = Partial<
  Omit<ProxyConfig, 'local' | 'conntrack' | 'modeSettings' | 'healthz' | 'metrics'>
> & {
  readonly clusterCIDRs?: readonly string[];
  readonly detectLocalMode?: LocalMode;
  readonly bridgeInterface?: string;
  readonly interfaceNamePrefix?: string;
  readonly healthz?: ListenAddress | 'none';
  readonly metrics?: ListenAddress | 'none';
  readonly conntrack?: Partial<ConntrackSettings>;
  readonly modeSettings?: ModeSettings;
};

/** Later layers win over earlier ones. */
export function makeConfig(...layers: readonly ProxySettings[]): ProxyConfig {
  const all: ProxySettings = Object.assign({}, ...layers);
  const { clusterCIDRs, detectLocalMode, bridgeInterface, interfaceNamePrefix, ...rest } = all;
  const { healthz, metrics, conntrack: _, modeSettings: __, ...plain } = rest;
  const { healthz: defaultHealthz, metrics: defaultMetrics, ...defaults } = defaultConfig;
  return {
    ...defaults,
    ...plain,
    local: {
      mode: detectLocalMode ?? defaults.local.mode,
      clusterCIDRs: clusterCIDRs ?? defaults.local.clusterCIDRs,
      bridgeInterface: bridgeInterface ?? '',
      interfaceNamePrefix: interfaceNamePrefix ?? '',
    },
    ...(healthz === 'none' ? {} : { healthz: healthz ?? defaultHealthz }),
    ...(metrics === 'none' ? {} : { metrics: metrics ?? defaultMetrics }),
    conntrack: Object.assign({}, defaults.conntrack, ...layers.map((layer) => layer.conntrack)),
    modeSettings: Object.assign({}, ...layers.map((layer) => layer.modeSettings)),
  } as ProxyConfig;
}

/** What is wrong with the settings, one sentence each; empty when nothing is. Flags of all modes count, whichever is chosen. */
export function configProblems(
  config: ProxyConfig,
  modes: readonly Pick<ModeDescription, 'checkSettings'>[],
): readonly string[] {
  const { local, nodePortAddresses, masqueradeBit, minSyncPeriodMs = 0, syncPeriodMs } = config;
  const problems = modes.flatMap((mode) => settingsProblem(mode, config) ?? []);
  const check = (isGood: boolean, problem: string): void => {
    if (!isGood) problems.push(problem);
  };
  for (const cidr of local.clusterCIDRs) {
    check(
      parseCidr(cidr) !== undefined,
      `cluster CIDR "${cidr}" is not a network like 10.244.0.0/16`,
    );
  }
  for (const one of nodePortAddresses) {
    const isAlone = one === primaryOnly && nodePortAddresses.length === 1;
    check(
      isAlone || parseCidr(one) !== undefined,
      `node port address "${one}" is neither a network like 10.0.0.0/8 nor the word ${primaryOnly} alone`,
    );
  }
  check(
    parseAddress(config.bindAddress) !== undefined,
    `bind address "${config.bindAddress}" is not an IP address`,
  );
  check(
    local.mode !== 'BridgeInterface' || local.bridgeInterface !== '',
    'detecting local traffic by BridgeInterface needs the name of the bridge (--pod-bridge-interface)',
  );
  check(
    local.mode !== 'InterfaceNamePrefix' || local.interfaceNamePrefix !== '',
    'detecting local traffic by InterfaceNamePrefix needs the prefix (--pod-interface-name-prefix)',
  );
  check(
    Number.isInteger(masqueradeBit) && masqueradeBit >= 0 && masqueradeBit <= 31,
    `masquerade bit ${masqueradeBit} is not from 0 to 31`,
  );
  check(syncPeriodMs > 0, 'the sync period must be longer than 0');
  check(
    minSyncPeriodMs <= syncPeriodMs,
    'the shortest sync period must not exceed the sync period',
  );
  return problems;
}

function settingsProblem(
  { checkSettings }: Pick<ModeDescription, 'checkSettings'>,
  { modeSettings, nodePortAddresses }: ProxyConfig,
): string | undefined {
  try {
    checkSettings?.(modeSettings, nodePortAddresses);
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}
