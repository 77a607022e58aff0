// The messages between the main thread and the thread of a node.
import type { KeyPair } from '../apiserver/certificates/x509.ts';
import type { ImageErrorCode, ImageErrorReason } from '../images/image-error.ts';
import type { LocalImage, PullProgress } from '../images/image-store.ts';
import type { Keyring } from '../images/keyring.ts';
import type { ImageCollection } from '../node/images/run-node-images.ts';
import type { ImageMap } from '../node/runtimes/process/image-map.ts';
import type { LogLevel } from '../observe/log.ts';
import type { ProxySettings } from '../proxy/config.ts';

export type NodeThreadOptions = {
  /** The network namespace that the thread enters first; absent: it stays in that of the process. */
  readonly namespacePath?: string;
  /** Whether the proxy's rules are removed at shutdown: only where they would outlive the process. */
  readonly cleansUp: boolean;
  /** Whether it announces addresses of load balancers. */
  readonly announces: boolean;
  readonly name: string;
  readonly addresses: readonly string[];
  readonly server: string;
  readonly authority: string;
  /** Client certificates for the API server, and the serving certificate of the agent. */
  readonly credentials: Readonly<Record<'agent' | 'proxy' | 'announcer' | 'serving', KeyPair>>;
  readonly dataDirectory: string;
  /** Paths of `up` that are hidden from pods. */
  readonly privatePaths: readonly string[];
  readonly images: ImageMap;
  /** Of all nodes. */
  readonly imageDirectory: string;
  /** At the same time; absent: any number. */
  readonly maxParallelPulls?: number;
  readonly imageCollection: ImageCollection;
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  readonly proxy: ProxySettings;
  readonly logLevel: LogLevel;
  readonly shutdownGraceMs: number;
  /** Limit of processes per pod; absent: none. */
  readonly maxPids?: number;
};

export type ToNodeThread =
  | { readonly kind: 'stop' }
  | ({ readonly kind: 'pull-progress' } & PullStep & { readonly progress: PullProgress })
  | ({ readonly kind: 'pulled' } & PullStep & { readonly image: LocalImage })
  | ({ readonly kind: 'pull-failed' } & PullStep & { readonly error: ImageFailure });

/** Registries are reached from the main thread: the network of a node leads nowhere else. */
type PullStep = { readonly id: number };

/** An ImageError. */
export type ImageFailure = {
  readonly reason: ImageErrorReason;
  readonly code: ImageErrorCode;
  readonly message: string;
};

export type PullMessage =
  | ({ readonly kind: 'pull'; readonly image: string; readonly keyring: Keyring } & PullStep)
  | ({ readonly kind: 'cancel-pull' } & PullStep);

export type FromNodeThread =
  /** The mode of the proxy, or why there is none. */
  | { readonly kind: 'mode'; readonly mode: string }
  | { readonly kind: 'ready' }
  | PullMessage
  | { readonly kind: 'failed'; readonly message: string };
