// The contract of container runtimes.
import type { Readable, Writable } from 'node:stream';
import type { TerminalSize } from '../../host/pseudo-terminal.ts';
import type { LocalImage, UnpackedImage } from '../../images/image-store.ts';
import type { ResourceRequirements } from '../../kinds/pod/resources.ts';
import type { Variables } from '../environment/service-variables.ts';
import type { ContainerSecurity } from '../pod/container-security.ts';
import type { ImageUsers } from './oci/image-users.ts';

export type MaskedPath = { readonly path: string; readonly isDirectory: boolean };

export type Mount = {
  /** A file or directory of the host. */
  readonly source: string;
  /** Path in the container. */
  readonly path: string;
  readonly isReadOnly: boolean;
  /** An open descriptor of the source: the start fails if the path no longer leads to it. The caller closes it. */
  readonly descriptor?: number;
  /** Paths below the source that are masked in the container. */
  readonly masked?: readonly MaskedPath[];
  /** Mounts an image instead of the source, read-only, or what it has at a path. */
  readonly image?: UnpackedImage;
  readonly imagePath?: string;
  /** Whatever an image has at the path is replaced. */
  readonly replaces?: boolean;
  /** Omitted if the machine does not permit mounts. */
  readonly isOptional?: boolean;
};

/** The image of a container: its configuration and its files. */
export type RootImage = {
  readonly local: LocalImage;
  readonly unpacked: UnpackedImage;
};

export type ContainerToRun = {
  /** Unique among all containers of the node, also over time. */
  readonly id: string;
  readonly pod: { readonly uid: string; readonly namespace: string; readonly name: string };
  readonly name: string;
  readonly image: string;
  /** Absent: it runs from this machine's files. */
  readonly rootImage?: RootImage;
  /** From the spec, with variables expanded; empty: that of the image. */
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly variables: Variables;
  readonly workingDir?: string;
  /** Identity and privileges. */
  readonly security: ContainerSecurity;
  readonly mounts: readonly Mount[];
  readonly hostname?: string;
  /** Path of the pod's shared /dev/shm; absent: the container has its own. */
  readonly sharedMemory?: string;
  /** Network namespace of the pod; absent: that of the node. */
  readonly namespacePath?: string;
  /** `pid` of a running container whose process namespace it joins; it terminates with that container. */
  readonly processesOf?: number;
  /** An existing, empty directory for the container's own files. */
  readonly directory: string;
  /** Requests and limits. */
  readonly resources?: ResourceRequirements;
  /** Path of its log file. */
  readonly logPath: string;
  readonly hasStdin: boolean;
  /** It has a terminal instead of pipes. */
  readonly hasTerminal?: boolean;
};

export type ContainerEnd = {
  readonly exitCode: number;
  readonly signal?: number;
  /** The kernel killed it for exceeding its memory limit. */
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
  /** Resolves when it has terminated and its output has been read. Never rejects. */
  readonly ended: Promise<ContainerEnd>;
  /** Kills it and everything it started. */
  readonly kill: () => void;
};

export type RunningContainer = {
  readonly id: string;
  /** Of its runtime, as in container ids: `process`, `oci`. */
  readonly runtimeName: string;
  readonly pid: number;
  /** Never rejects. */
  readonly ended: Promise<ContainerEnd>;
  /** Signals the container; does nothing after its termination. */
  readonly signal: (signal: NodeJS.Signals | number) => void;
  /** The signal that its image wants for its end. */
  readonly stopSignal?: number;
  /** Starts a program in the container, with its namespaces and privileges. Rejects with ContainerStartError. */
  readonly enter: (
    argv: readonly [string, ...string[]],
    options?: EnterOptions,
  ) => Promise<EnteredProgram>;
  /** Standard input; absent: it has none. */
  readonly input?: Writable;
  /** Resizes its terminal, if it has one. */
  readonly resize: (size: TerminalSize) => void;
  /** Changes its resources. Throws if that is not possible. */
  readonly setResources: (resources: ResourceRequirements) => void;
  /** The listener gets all further output. Returns how to remove it. */
  readonly onOutput: (listener: OutputListener) => () => void;
};

export type Runtime = {
  /** As in a node's `containerRuntimeVersion` and in container ids: `process`. */
  readonly name: string;
  readonly version: string;
  /** Why the image cannot be run; undefined if it can. */
  readonly imageProblem: (
    container: Pick<ContainerToRun, 'image' | 'command'>,
  ) => string | undefined;
  /** Whether the container runs from an image of a registry; absent: none does. */
  readonly needsImage?: (container: Pick<ContainerToRun, 'image'>) => boolean;
  /** The users that the image knows. Throws ContainerConfigError or ContainerStartError. */
  readonly imageUsers?: (image: LocalImage, unpacked: UnpackedImage) => Promise<ImageUsers>;
  /** Throws ContainerStartError. */
  readonly startContainer: (container: ContainerToRun) => Promise<RunningContainer>;
  /** Releases what the containers of a pod share; all of them must have terminated. */
  readonly endPod: (uid: string) => void;
  /** Kills containers of a previous run of the agent. Returns their number. */
  readonly endLeftovers: () => Promise<number>;
};

/** A container failed to start; reason and message are shown in its status. */
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
