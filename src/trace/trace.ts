// The explanation of one connection, hop by hop: what `fairlead trace -o json` prints. docs/reference/output-trace.md describes it.
import type { RecordText } from '../dns/wire/record-text.ts';
import type { ChoiceReason } from '../proxy/model/select-endpoints.ts';
import type { Family, Protocol, TrafficPolicy } from '../proxy/model/state.ts';
import type {
  Entrance,
  JudgementReason,
  MasqueradeReason,
  Route,
} from '../proxy/packets/reference-model.ts';
import type { Setting } from '../snapshot/cluster-settings.ts';
import type { SnapshotKind, Unread } from '../snapshot/snapshot.ts';
import type { LiveTrace } from './live/live.ts';

export type Trace = {
  readonly apiVersion: 'fairlead.dev/v1';
  readonly kind: 'Trace';
  readonly target: TraceTarget;
  readonly source: TraceSource;
  readonly settings: TraceSettings;
  /** Absent: on the objects as they are now. */
  readonly at?: TraceMoment;
  /** Absent where no name is resolved. */
  readonly name?: NameHop;
  /** By address, in the order in which a client tries them; by node, where nodes differ. */
  readonly paths: readonly Path[];
  readonly verdict: TraceVerdict;
  /** What could not be read, where the verdict depends on it. */
  readonly unread: readonly Unread[];
  /** On request: what became of it when it was tried. */
  readonly live?: LiveTrace;
};

/** The time as of which a connection is traced. */
export type TraceMoment = {
  /** RFC 3339. */
  readonly time: string;
  /** Kinds whose history is not retained: their objects are those of now. */
  readonly present: readonly SnapshotKind[];
};

export type TraceTarget = {
  /** As it was given. */
  readonly text: string;
  readonly protocol: Protocol;
  readonly port?: number;
};

export type TraceSource = {
  readonly kind: 'pod' | 'node' | 'outside';
  readonly namespace?: string;
  readonly name?: string;
  /** It stands for any pod of the namespace, or any client outside. */
  readonly isAssumed: boolean;
  readonly addresses: readonly string[];
  /** Whose rules its packets meet first. */
  readonly nodes: readonly string[];
  readonly sentence: string;
};

/** What no object of its own says, and what was taken for it. */
export type TraceSettings = {
  readonly domain: Setting<string>;
  readonly dnsAddresses: Setting<readonly string[]>;
  readonly podRanges: Setting<readonly string[]>;
  readonly proxyMode: Setting<string>;
};

export type NameHop = {
  readonly name: string;
  readonly resolver: Resolver;
  /** In the order in which they are sent. */
  readonly queries: readonly Query[];
  /** How many of them found nothing although a later one did. */
  readonly wasted: number;
  readonly outcome: 'found' | 'missing' | 'outside' | 'unknown';
  /** No query is sent. */
  readonly isInHostsFile?: true;
  /** The name whose records are used. */
  readonly used?: {
    readonly name: string;
    readonly addresses: readonly string[];
    readonly ttlSeconds: number;
  };
  readonly sentence: string;
};

export type Resolver = {
  readonly nameservers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
  readonly ndots: number;
  /** Where the configuration comes from. */
  readonly source: string;
  readonly warnings: readonly string[];
};

export type Query = {
  readonly name: string;
  readonly type: 'A' | 'AAAA';
  /** `outside`: forwarded to other servers, whose answer is not known here. */
  readonly answer: 'records' | 'no-data' | 'no-such-name' | 'refused' | 'outside' | 'unknown';
  readonly records: readonly RecordText[];
  /** It does not fit into a UDP answer: the client asks again over TCP. */
  readonly isTruncated: boolean;
  readonly isWasted: boolean;
};

export type Path = {
  readonly family: Family;
  readonly address: string;
  readonly port: number;
  readonly protocol: Protocol;
  /** The nodes from which, or at which, it is so. Empty: no rules are met. */
  readonly nodes: readonly string[];
  readonly entrance: AddressHop;
  readonly policy?: PolicyHop;
  readonly endpoints?: readonly EndpointHop[];
  /** On request: the rules that the packet meets, in the syntax of the mode. */
  readonly rules?: readonly string[];
  readonly ends: readonly EndHop[];
  readonly outcome: Outcome;
};

/** 2: whose address it is. */
export type AddressHop = {
  readonly kind:
    | Entrance
    | 'headless'
    | 'pod'
    | 'node'
    | 'health-check'
    | 'host-port'
    | 'service-range'
    | 'outside';
  /** `namespace/name`. */
  readonly service?: string;
  readonly portName?: string;
  readonly servicePort?: number;
  readonly targetPort?: number | string;
  /** How the reference model of the proxy judges the first packet. */
  readonly why: JudgementReason;
  readonly sentence: string;
};

/** 3: which endpoints the policies allow, and why. */
export type PolicyHop = {
  readonly internal: TrafficPolicy;
  readonly external: TrafficPolicy;
  readonly applied: Route['policy'];
  readonly uses: Route['set'];
  readonly why: Route['why'];
  readonly trafficDistribution?: string;
  readonly choice?: ChoiceReason;
  readonly affinitySeconds?: number;
  readonly sourceRanges?: readonly string[];
  readonly sentences: readonly string[];
};

/** 4: an endpoint of the service port. */
export type EndpointHop = {
  readonly address: string;
  readonly port: number;
  /** `namespace/name`; absent for endpoints that are no pods. */
  readonly pod?: string;
  readonly node?: string;
  readonly zone?: string;
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  readonly hints: {
    readonly nodeHints: readonly string[];
    readonly zoneHints: readonly string[];
  };
  /** From 0 to 1, of a client's next connection. */
  readonly chance: number;
  /** Why the chance is 0. */
  readonly unused?: string;
  readonly sender?: Sender;
};

/** The address from which the connection comes, as the endpoint sees it. */
export type Sender = {
  readonly kind: 'client' | 'node';
  /** Absent where it is not known, such as the address of a node towards its own pods. */
  readonly address?: string;
  readonly masquerade?: MasqueradeReason;
  readonly sentence: string;
};

/** 6: what is there. */
export type EndHop = {
  readonly address: string;
  readonly port: number;
  readonly pod?: string;
  /** A container that has the port in its spec. */
  readonly container?: string;
  readonly restarts?: number;
  readonly notes: readonly string[];
};

export type OutcomeKind =
  | 'answered'
  | 'refused'
  | 'dropped'
  | 'no-such-name'
  | 'not-for-a-service'
  | 'unknown';

export type Outcome = {
  readonly kind: OutcomeKind;
  readonly sentence: string;
  /** Of `not-for-a-service`: what the client gets if no other program or network answers. */
  readonly otherwise?: 'refused' | 'dropped';
};

export type TraceVerdict = Outcome;
