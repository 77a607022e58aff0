// The options of an API server.
import type { Cidr } from '../ip/cidr.ts';
import type { PortRange } from '../ip/port-range.ts';
import type { Log } from '../observe/log.ts';
import type { MetricsRegistry } from '../observe/metrics.ts';
import type { Store } from '../storage/store.ts';
import type { PluginChoice } from './admission/all.ts';
import type { PluginConfiguration } from './admission/configuration.ts';
import type { AuditLog } from './audit/audit-log.ts';
import type { AuditPolicy } from './audit/policy.ts';
import type { Credentials } from './certificates/ensure-certificates.ts';
import type { NodeTrust } from './certificates/node-credentials.ts';
import type { HistoryOptions } from './history/start-history.ts';
import type { Limits } from './limits/limits.ts';
import type { Dial } from './proxy/forward.ts';
import type { TokenOptions } from './tokens/create-tokens.ts';

export type ApiServerOptions = {
  readonly store: Store;
  readonly credentials: Credentials;
  readonly host: string;
  readonly port: number;
  /** The endpoint of the `kubernetes` Service. */
  readonly advertiseAddress: string;
  readonly serviceCidrs: readonly Cidr[];
  readonly nodePorts: PortRange;
  /** Node port of the `kubernetes` Service; absent: it has none. */
  readonly serviceNodePort?: number;
  /** Whether this server reconciles the endpoints of the `kubernetes` Service; absent: it does. */
  readonly publishesEndpoints?: boolean;
  readonly packageVersion: string;
  readonly now: () => number;
  readonly log: Log;
  /** May be shared by parts in the same process; absent: a registry of its own. */
  readonly metrics?: MetricsRegistry;
  readonly tokens?: TokenOptions;
  /** The maximum validity of signed certificates; absent: a year. */
  readonly signingDurationMs?: number;
  /** Absent: those that are on by default. */
  readonly admissionPlugins?: PluginChoice;
  /** Settings of plugins; absent: their defaults. */
  readonly pluginConfiguration?: PluginConfiguration;
  /** Opens the proxy's connections to pods; absent: TCP from this machine. */
  readonly dial?: Dial;
  /** Which serving certificates of node agents are trusted; absent: those that the cluster's CA signed for the node. */
  readonly nodeTrust?: NodeTrust;
  /** Opens connections to nodes; absent: as to pods. */
  readonly dialNode?: Dial;
  /** Returns descriptors of further listening sockets for the port. */
  readonly listenAlso?: (port: number) => readonly number[];
  readonly limits?: Limits;
  /** Absent: no audit log. */
  readonly audit?: { readonly policy: AuditPolicy; readonly log: AuditLog };
  /** Absent: no history is kept. */
  readonly history?: HistoryOptions;
  /** With several servers on one store. */
  readonly shared?: SharedStoreOptions;
};

export type SharedStoreOptions = {
  /** The name of its health check. */
  readonly backend: string;
  /** 0: this server does not compact. */
  readonly compactionIntervalMs: number;
};
