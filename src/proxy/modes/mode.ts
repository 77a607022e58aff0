// What a proxy mode must say of itself.
import type { Clock } from '../../host/clock.ts';
import type { Log } from '../../observe/log.ts';
import type { Family, ProxyState, StateChange } from '../model/state.ts';
import type { Packet, Verdict } from '../packets/packet.ts';

export type ModeName = 'nftables' | 'iptables' | 'ipvs' | 'userspace';

/** Whether this machine can run the mode; where it cannot, what to grant or install. */
export type ProbeResult =
  | { readonly works: true; readonly detail: string }
  | { readonly works: false; readonly reason: string; readonly remedy: string };

export type ModeOptions = {
  readonly family: Family;
  readonly log: Log;
  readonly clock: Clock;
  /** Flags of one mode only, by upstream's flag name, as `ipvs-scheduler`. */
  readonly settings: Readonly<Record<string, string>>;
};

export type SyncReport = {
  /** Whether everything was written anew. */
  readonly isFull: boolean;
  /** Rules, elements or relays that were added, changed or removed. */
  readonly changes: number;
  /** Size of what went to the kernel, where it is a text or a message. */
  readonly bytes: number;
  /** Rules that are now in the kernel by table, where the mode has such a count. */
  readonly rules?: Readonly<Record<string, number>>;
  /** Rules that this sync wrote by table, where the mode has such a count. */
  readonly written?: Readonly<Record<string, number>>;
  /** What was left over from before could not be removed; it does no harm, and is tried again. */
  readonly cleanupFailed?: boolean;
};

/** Packets that rules of the mode have seen since they were written. */
export type PacketCounts = {
  /** Dropped because conntrack could not place them. */
  readonly invalidDropped: number;
  /** First packets of connections to node ports on the loopback. */
  readonly loopbackAccepted: number;
};

/** A mode at work for one family. */
export type RunningMode = {
  /**
   * Brings the kernel to the state, atomically. A throw means that nothing or an unknown part was written: the
   * next call is a full one. Never called twice at once.
   */
  readonly sync: (state: ProxyState, change: StateChange) => Promise<SyncReport>;
  /** Whether what was written is still there; false makes the next sync full (another program flushed it). */
  readonly isIntact: () => Promise<boolean>;
  /** Where rules count; they begin anew when they are written anew. */
  readonly packets?: () => Promise<PacketCounts>;
  /** Ends what lives in this process (relays, workers). Rules stay: traffic goes on without the process. */
  readonly stop: () => Promise<void>;
};

export type Mode = {
  readonly name: ModeName;
  readonly probe: (family: Family) => Promise<ProbeResult>;
  /** Throws RangeError where flags of this mode are wrong, whichever mode is chosen. Absent: it has no flags. */
  readonly readSettings?: (settings: ModeOptions['settings']) => unknown;
  readonly start: (options: ModeOptions, signal: AbortSignal) => Promise<RunningMode>;
  /** Modes that bring this one its traffic: their rules are its own and must not be cleaned up beside it. */
  readonly carriers?: readonly ModeName[];
  /** Removes everything this mode ever wrote on this machine in the family, and nothing else; fine when there is nothing. */
  readonly cleanup: (family: Family) => Promise<void>;
  /** A packet's way through the rules that the mode writes for the state: computed from the rules, not from the state. */
  readonly tracePacket: (state: ProxyState) => (packet: Packet) => Verdict;
  /** What its nature makes different from `judgePacket` in ../decide.ts. */
  readonly traits: ModeTraits;
};

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
  /** Backends see the proxy's address whatever the policy. */
  readonly alwaysMasquerades: boolean;
  /** What node-port addresses mean when none are configured. */
  readonly defaultNodePortAddresses: 'all' | 'primary';
};
