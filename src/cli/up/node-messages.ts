// What the main thread and the thread of a node say to each other.
import type { KeyPair } from '../../apiserver/certificates/x509.ts';
import type { ImageMap } from '../../node/runtimes/process/image-map.ts';
import type { LogLevel } from '../../observe/log.ts';
import type { ModeName } from '../../proxy/modes/mode.ts';

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
  readonly images: ImageMap;
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /** Of all pods, one of each family. */
  readonly clusterCIDRs: readonly string[];
  readonly proxyMode?: ModeName;
  readonly logLevel: LogLevel;
  readonly shutdownGraceMs: number;
};

export type ToNodeThread =
  | { readonly kind: 'stop' }
  /** Who leads to a pod of these addresses? Answered with `letGo`, as soon as the rules of this node do not. */
  | { readonly kind: 'watch'; readonly id: number; readonly ips: readonly string[] }
  | { readonly kind: 'unwatch'; readonly id: number }
  | { readonly kind: 'released'; readonly id: number };

export type FromNodeThread =
  /** How the proxy works, or that it does not. */
  | { readonly kind: 'mode'; readonly mode: string; readonly families: readonly string[] }
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly message: string }
  /** A pod of this node ends; answered with `released` when nobody leads to it any more. */
  | { readonly kind: 'release'; readonly id: number; readonly ips: readonly string[] }
  | { readonly kind: 'letGo'; readonly id: number };
