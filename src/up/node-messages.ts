// What the main thread and the thread of a node say to each other.
import type { KeyPair } from '../apiserver/certificates/x509.ts';
import type { ImageMap } from '../node/runtimes/process/image-map.ts';
import type { LogLevel } from '../observe/log.ts';
import type { ProxySettings } from '../proxy/config.ts';

export type NodeThreadOptions = {
  /** Where the thread goes before anything else; absent: it stays on the network of the process. */
  readonly namespacePath?: string;
  /** Whether rules are removed at the end; needed only where they would outlive the process. */
  readonly cleansUp: boolean;
  /** Whether it answers for addresses of load balancers. */
  readonly announces: boolean;
  readonly name: string;
  readonly addresses: readonly string[];
  readonly server: string;
  readonly authority: string;
  /** As whom the agent and the proxy speak to the server, and with what the agent answers. */
  readonly credentials: Readonly<Record<'agent' | 'proxy' | 'announcer' | 'serving', KeyPair>>;
  readonly dataDirectory: string;
  /** More that no pod gets to see: all that `up` keeps. */
  readonly keptPaths: readonly string[];
  readonly images: ImageMap;
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  readonly proxy: ProxySettings;
  readonly logLevel: LogLevel;
  readonly shutdownGraceMs: number;
  /** How many processes a pod may have; absent: any. */
  readonly maxPids?: number;
};

export type ToNodeThread =
  | { readonly kind: 'stop' }
  /** Who leads to a pod of these addresses? Answered with `letGo`, as soon as the rules of this node do not. */
  | { readonly kind: 'watch'; readonly id: number; readonly ips: readonly string[] }
  | { readonly kind: 'unwatch'; readonly id: number }
  | { readonly kind: 'released'; readonly id: number };

export type FromNodeThread =
  /** How the proxy works, or that it does not. */
  | { readonly kind: 'mode'; readonly mode: string }
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly message: string }
  /** A pod of this node ends; answered with `released` when nobody leads to it any more. */
  | { readonly kind: 'release'; readonly id: number; readonly ips: readonly string[] }
  | { readonly kind: 'letGo'; readonly id: number };
