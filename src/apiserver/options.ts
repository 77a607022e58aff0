// What an API server is started with.
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
import type { Limits } from './limits/limits.ts';
import type { Dial } from './proxy/forward.ts';
import type { TokenOptions } from './tokens/create-tokens.ts';

export type ApiServerOptions = {
  readonly store: Store;
  readonly credentials: Credentials;
  readonly host: string;
  readonly port: number;
  /** What the `kubernetes` Service leads to. */
  readonly advertiseAddress: string;
  readonly serviceCidrs: readonly Cidr[];
  readonly nodePorts: PortRange;
  /** Node port of the `kubernetes` Service; absent: it has none. */
  readonly serviceNodePort?: number;
  /** Whether the endpoints of the `kubernetes` Service are this server's to keep; absent: they are. */
  readonly publishesEndpoints?: boolean;
  readonly packageVersion: string;
  readonly now: () => number;
  readonly log: Log;
  /** Where this server counts; parts in the same process may count there too. Absent: one of its own. */
  readonly metrics?: MetricsRegistry;
  readonly tokens?: TokenOptions;
  /** How long certificates are good that clients ask for; absent: a year. */
  readonly signingDurationMs?: number;
  /** Absent: those that are on by default. */
  readonly admissionPlugins?: PluginChoice;
  /** Settings of plugins; absent: their defaults. */
  readonly pluginConfiguration?: PluginConfiguration;
  /** Opens the proxy's connections to pods; absent: as the machine does. */
  readonly dial?: Dial;
  /** Whose certificates agents of nodes must serve with; absent: those that this cluster signed for the very node. */
  readonly nodeTrust?: NodeTrust;
  /** Opens connections to nodes, for addresses that nodes may have; absent: as to pods. */
  readonly dialNode?: Dial;
  /** Given the port, descriptors of sockets that listen elsewhere: what connects there is served as well. */
  readonly listenAlso?: (port: number) => readonly number[];
  readonly limits?: Limits;
  /** Absent: nothing is written down. */
  readonly audit?: { readonly policy: AuditPolicy; readonly log: AuditLog };
  /** Where several servers share the store. */
  readonly shared?: SharedStoreOptions;
};

export type SharedStoreOptions = {
  /** The name of its health check. */
  readonly backend: string;
  /** 0: somebody else compacts. */
  readonly compactionIntervalMs: number;
};
