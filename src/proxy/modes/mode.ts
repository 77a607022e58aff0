// The contract of a proxy mode: what it declares about itself, and what it does.
import type { Clock } from '../../host/clock.ts';
import type { BusyConnection } from '../../kinds/part/traffic.ts';
import type { Log } from '../../observe/log.ts';
import type { Family, Protocol, ProxyState, StateChange } from '../model/state.ts';
import type { RuleListener } from '../packets/met-rule.ts';
import type { Packet, Verdict } from '../packets/packet.ts';

/** What is known of a mode before its code is loaded. Flags, the configuration file, the choice of the mode and metrics follow from it. */
export type ModeDescription = {
  readonly name: string;
  /** Reported as a Warning event of the Node when the mode starts. */
  readonly deprecation?: { readonly reason: string; readonly message: string };
  /** The mode that is used instead where this one was requested and does not work. */
  readonly fallback?: string;
  readonly flags?: readonly ModeFlag[];
  /** Whether kube-proxy has --NAME-min-sync-period and --NAME-sync-period for it. */
  readonly hasSyncPeriodFlags?: boolean;
  readonly configuration: ModeConfiguration;
  /** Metrics that upstream has for this mode alone; absent: not counted. */
  readonly metrics?: Readonly<Partial<Record<ModeMetric, MetricDescription>>>;
  /** Interfaces of the mode. Their addresses are those of Services, not of the node. */
  readonly interfaces?: readonly string[];
  /** Throws RangeError for wrong values. Called for all modes, whichever is chosen. */
  readonly checkSettings?: (settings: ModeSettings, nodePortAddresses: readonly string[]) => void;
};

/** A mode as the list of modes has it: its code is loaded when it is needed. */
export type ListedMode = ModeDescription & { readonly load: () => Promise<Mode> };

/** Values of the flags of single modes, by the flag's name without dashes. */
export type ModeSettings = Readonly<Record<string, string>>;

export type ModeFlag = {
  /** Without dashes, as `ipvs-scheduler`. */
  readonly name: string;
  /** As help shows it, as `<name>`; absent: the flag is a switch. */
  readonly value?: string;
  readonly help: string;
  /** Whether `fairlead up` has it too. */
  readonly isForUp?: boolean;
};

/** What the mode reads of a KubeProxyConfiguration. */
export type ModeConfiguration = {
  /** Sections with masquerading and sync periods. The last one that has a field wins. */
  readonly sections: readonly string[];
  /** Fields of the section of the mode's name, and the flags that they stand for. */
  readonly fields?: readonly ModeField[];
};

export type ModeField = {
  readonly name: string;
  readonly type: 'text' | 'list' | 'boolean';
  readonly flag: string;
};

/** By the member of SyncReport, PacketCounts or the event that they count. */
export type ModeMetric =
  | 'syncFailures'
  /** Absent: failures of partial syncs count as failures. */
  | 'partialSyncFailures'
  | 'cleanupFailures'
  | 'rules'
  | 'written'
  | 'invalidDropped'
  | 'loopbackAccepted';

/** The name without `kubeproxy_`. */
export type MetricDescription = { readonly name: string; readonly help: string };

/** Whether this machine can run the mode; where it cannot, what to grant or install. */
export type ProbeResult =
  | { readonly works: true; readonly detail: string }
  | { readonly works: false; readonly reason: string; readonly remedy: string };

export type ModeOptions = {
  readonly family: Family;
  readonly log: Log;
  readonly clock: Clock;
  readonly settings: ModeSettings;
};

export type SyncReport = {
  /** Whether everything was written. */
  readonly isFull: boolean;
  /** Rules, elements or relays that were added, changed or removed. */
  readonly changes: number;
  /** Size of what went to the kernel, where it is a text or a message. */
  readonly bytes: number;
  /** Rules that are now in the kernel by table, where the mode counts them. */
  readonly rules?: Readonly<Record<string, number>>;
  /** Rules that this sync wrote by table, where the mode counts them. */
  readonly written?: Readonly<Record<string, number>>;
  /** Whether unused rules could not be removed. They have no effect, and a later sync tries again. */
  readonly cleanupFailed?: boolean;
};

/** Packets that matched certain rules of the mode since these were written. */
export type PacketCounts = {
  /** Dropped because conntrack found them invalid. */
  readonly invalidDropped: number;
  /** First packets of connections to node ports on the loopback. */
  readonly loopbackAccepted: number;
};

/** A mode at work for one family. */
export type RunningMode = {
  /**
   * Brings the kernel to the state, atomically. After a rejection an unknown part may be written, and the next call is
   * a full one. Never called while a call is pending.
   */
  readonly sync: (state: ProxyState, change: StateChange) => Promise<SyncReport>;
  /** Whether what was written is still there; false makes the next sync a full one. */
  readonly isIntact: () => Promise<boolean>;
  /** Absent where rules do not count. Counts start at zero when rules are written again. */
  readonly packets?: () => Promise<PacketCounts>;
  /** Absent where the kernel carries all connections itself. The busiest ones are those since the last call. */
  readonly relayed?: () => Promise<readonly RelayedConnections[]>;
  /** What chooses endpoints, where it does not mean to be even. */
  readonly scheduler?: string;
  /** Stops relays and workers of this process. Rules stay: traffic continues without it. */
  readonly stop: () => Promise<void>;
};

/** Of one relay to one endpoint. Totals begin when the relay first uses the endpoint. */
export type RelayedConnections = {
  /** Of the service port. */
  readonly portKey: string;
  readonly set: 'cluster' | 'local';
  readonly ip: string;
  readonly port: number;
  readonly open: number;
  readonly opened: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Different addresses of clients with open connections. */
  readonly clients: number;
  readonly busiest: readonly BusyConnection[];
};

export type Mode = ModeDescription & {
  readonly probe: (family: Family) => Promise<ProbeResult>;
  readonly start: (options: ModeOptions, signal: AbortSignal) => Promise<RunningMode>;
  /** Modes that carry this one's traffic to it: their rules are its own, and cleaning up after other modes spares them. */
  readonly carriers?: readonly string[];
  /** Removes everything this mode ever wrote on this machine in the family, and nothing else. */
  readonly cleanup: (family: Family) => Promise<void>;
  /** What the rules for the state do with a packet: computed from the rules, not from the state. `met` is called with each rule that one matches. */
  readonly tracePacket: (state: ProxyState, met?: RuleListener) => (packet: Packet) => Verdict;
  /**
   * What the kernel of this network has for the ports of the state; other ports are left alone. Undefined: nothing of this mode by this
   * program. Absent: what the mode writes cannot be compared.
   */
  readonly readDrift?: (state: ProxyState) => Promise<Drift | undefined>;
  /** All that the mode does otherwise than others with a packet. */
  readonly traits: ModeTraits;
};

/** In the syntax of the program that shows the kernel's tables. */
export type Drift = {
  readonly missing: readonly string[];
  /** There, and not wanted. */
  readonly stale: readonly string[];
};

/** Where modes differ by their nature; `judgePacket` in ../packets/reference-model.ts takes them into account. */
export type ModeTraits = {
  /** A port of a cluster IP that no Service has. */
  readonly unusedPortOfClusterIP: 'pass' | 'reject';
  /** The same of an external or load balancer address that is none of the node's; absent: passed on. */
  readonly unusedPortOfOutsideIP?: 'reject';
  /** An address of a service range that no Service has. */
  readonly unusedServiceIP: 'pass' | 'drop';
  /** Node ports on 127.0.0.1. */
  readonly nodePortOnLoopback: boolean;
  /** Source ranges are checked also while there are no endpoints. */
  readonly checksSourceRangesWithoutEndpoints: boolean;
  /** No endpoint on this node under policy Local. */
  readonly noLocalEndpoint: 'drop' | 'reject';
  /** Relayed by this process: endpoints see the node's address, whatever the policy. */
  readonly relayedProtocols: readonly Protocol[];
  /** What node-port addresses mean when none are configured. */
  readonly defaultNodePortAddresses: 'all' | 'primary';
};
