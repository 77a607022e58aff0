// What runs containers. The agent decides when; a runtime knows how.
import type { Readable, Writable } from 'node:stream';
import type { TerminalSize } from '../../host/pseudo-terminal.ts';
import type { ResourceRequirements } from '../../kinds/pod/resources.ts';
import type { Variables } from '../environment/service-variables.ts';
import type { ContainerSecurity } from '../pod/container-security.ts';

export type HiddenBelow = { readonly path: string; readonly isDirectory: boolean };

export type Mount = {
  /** A file or directory of the host. */
  readonly source: string;
  /** Where the container sees it. */
  readonly path: string;
  readonly isReadOnly: boolean;
  /** An open descriptor of the source: the container does not start if the path leads elsewhere by then. The caller closes it. */
  readonly descriptor?: number;
  /** Below the source: what the container must not see. */
  readonly hidden?: readonly HiddenBelow[];
  /** The container starts without it where the machine allows no mounts. */
  readonly isOptional?: boolean;
};

export type ContainerToRun = {
  /** Unique among all containers of the node, ever. */
  readonly id: string;
  readonly pod: { readonly uid: string; readonly namespace: string; readonly name: string };
  readonly name: string;
  readonly image: string;
  /** From the spec, variables expanded; empty: what the image says. */
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly variables: Variables;
  readonly workingDir?: string;
  /** Who it is and what it may do. */
  readonly security: ContainerSecurity;
  readonly mounts: readonly Mount[];
  readonly hostname?: string;
  /** Of the pod's containers together; a file system in memory. Absent: this one alone has it. */
  readonly sharedMemory?: string;
  /** Network namespace of the pod; absent: that of the node. */
  readonly namespacePath?: string;
  /** `pid` of a container that runs, whose processes this one sees and ends with. */
  readonly processesOf?: number;
  /** A directory for the container's own files, which is there and empty. */
  readonly directory: string;
  /** How much it may use. */
  readonly resources?: ResourceRequirements;
  /** Where its lines go. */
  readonly logPath: string;
  readonly hasStdin: boolean;
  /** It sees a terminal instead of pipes. */
  readonly hasTerminal?: boolean;
};

export type ContainerEnd = {
  readonly exitCode: number;
  readonly signal?: number;
  /** The kernel ended it because it wanted more memory than it may have. */
  readonly isOutOfMemory?: boolean;
};

export type OutputListener = (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void;

export type EnterOptions = { readonly hasTerminal: boolean };

export type EnteredProgram = {
  readonly input: Writable;
  readonly output: Readable;
  /** Absent for a terminal, which has one output for both. */
  readonly errors?: Readable;
  readonly resize: (size: TerminalSize) => void;
  /** When it has ended and all that it wrote is read. Never rejects. */
  readonly ended: Promise<ContainerEnd>;
  /** Ends it and all that it started, at once. */
  readonly kill: () => void;
};

export type RunningContainer = {
  readonly id: string;
  readonly pid: number;
  /** Never rejects. */
  readonly ended: Promise<ContainerEnd>;
  /** To all its processes; nothing when they are gone. */
  readonly signal: (name: NodeJS.Signals) => void;
  /** Starts a program beside the container's own, with its view of the world and its rights. Rejects with ContainerStartError. */
  readonly enter: (
    argv: readonly [string, ...string[]],
    wish?: EnterOptions,
  ) => Promise<EnteredProgram>;
  /** Its standard input; absent when it has none. */
  readonly input?: Writable;
  /** Of its terminal; nothing when it has none. */
  readonly resize: (size: TerminalSize) => void;
  /** Holds it to other amounts from now on. Throws where they cannot be. */
  readonly setResources: (resources: ResourceRequirements) => void;
  /** Told what it writes from now on. Returns how to stop. */
  readonly onOutput: (listener: OutputListener) => () => void;
};

export type Runtime = {
  /** As in `containerRuntimeVersion` of a node and the ids of containers: `process`. */
  readonly name: string;
  readonly version: string;
  /** What is wrong with the image; undefined when it can be run. */
  readonly imageProblem: (
    container: Pick<ContainerToRun, 'image' | 'command'>,
  ) => string | undefined;
  /** Throws ContainerStartError. */
  readonly startContainer: (container: ContainerToRun) => Promise<RunningContainer>;
  /** Takes back what the containers of a pod had in common; none of them may be left. */
  readonly endPod: (uid: string) => void;
  /** Ends what an earlier run of the agent has left. Returns how many it found. */
  readonly endLeftovers: () => Promise<number>;
};

/** Why a container did not start, in the words that its status shows. */
export class ContainerStartError extends Error {
  override readonly name = 'ContainerStartError';
  readonly reason: 'CreateContainerError' | 'RunContainerError';

  constructor(reason: ContainerStartError['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** The container cannot be created as its pod configures it. */
export class ContainerConfigError extends Error {
  override readonly name = 'ContainerConfigError';
}
