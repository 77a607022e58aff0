import type { Cidr } from '../../ip/cidr.ts';
import type { HostPort } from './host-ports.ts';
import type { PodAttachment } from './pod-network.ts';

/** What is known of a pod on the bridge. */
export type AttachedPod = {
  /** Its interface on the node's side. */
  readonly port: string;
  readonly attachment: PodAttachment;
  readonly hostPorts: readonly HostPort[];
  /** For messages. */
  readonly name: string;
  /** Those that its addresses are of. */
  readonly ranges: readonly Cidr[];
  /** Lets go of its namespace. */
  readonly release: () => void;
};
