// The contract of a store of images: one directory with the images of one machine. `openImageStore` opens it. Several
// may have the same directory open at once: threads and processes, of one user.
import type { Log } from '../observe/log.ts';
import type { Keyring } from './keyring.ts';
import type { RegistrySettings } from './registry-settings.ts';

/** What an image says about its containers; the `config` of the OCI image configuration. Absent: the image does not say. */
export type ImageConfig = {
  readonly entrypoint?: readonly string[];
  readonly cmd?: readonly string[];
  /** `NAME=value`. */
  readonly env: readonly string[];
  /** `user`, `uid`, `user:group`, `uid:gid`, `uid:group` or `user:gid`; names are those of the image's /etc/passwd and /etc/group. */
  readonly user?: string;
  readonly workingDir?: string;
  /** `SIGQUIT` or a number. */
  readonly stopSignal?: string;
  /** Paths. */
  readonly volumes: readonly string[];
  /** `80/tcp`. */
  readonly exposedPorts: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly architecture: string;
  readonly os: string;
};

export type LocalImage = {
  /** Digest of the configuration, `sha256:...`: the same for the same content, whatever its names. */
  readonly id: string;
  /** Full names with tags, such as `docker.io/library/nginx:stable`. */
  readonly names: readonly string[];
  /** Full names with digests, such as `docker.io/library/nginx@sha256:...`: what the registry called it. */
  readonly digests: readonly string[];
  /** Of the compressed layers and the configuration, as a kubelet reports it. */
  readonly sizeBytes: number;
  readonly config: ImageConfig;
  /** Digests of the layers as tar files, bottom to top. */
  readonly layers: readonly string[];
  /** Milliseconds since 1970. */
  readonly pulledAt: number;
  /** When it was last pulled or a container last released it. Milliseconds since 1970. */
  readonly lastUsed: number;
};

export type PullProgress = {
  readonly layers: number;
  readonly layersDone: number;
  /** Of what has to be downloaded: layers that are here already do not count. */
  readonly totalBytes: number;
  readonly doneBytes: number;
};

export type PullOptions = {
  /** Where credentials come from; those that match the name are tried in order; with such credentials, the registry is not asked without. */
  readonly keyring?: Keyring;
  readonly signal: AbortSignal;
  /** At most every 100 ms, and at the end. */
  readonly onProgress?: (progress: PullProgress) => void;
};

/**
 * Layers as directories. What a layer removes from those below it is a character device 0/0; a directory that hides what is below it has an
 * extended attribute. That is what overlayfs reads. The forms differ in the attribute:
 *
 * - `trusted`: `trusted.overlay.opaque`, which only root of the machine can write. Mount without options.
 * - `user`: `user.overlay.opaque`, for user namespaces. Mount with `userxattr`. (Linux makes devices 0/0 without rights since 5.8.)
 * - `files`: on file systems without such devices or attributes, `.wh.NAME` and `.wh..wh..opq`, as in the tar file. Not for overlayfs.
 *
 * `copyLayers` (copy-layers.ts) reads all three, for machines without overlayfs. The directories are read-only by agreement: containers get
 * them as lower directories or as copies. The mode of the top directory is the root's mode in the container.
 */
export type LayerForm = 'trusted' | 'user' | 'files';

export type UnpackedImage = {
  readonly form: LayerForm;
  /** Bottom to top. Layers that two images share are the same directory. A layer without files is an empty directory. */
  readonly directories: readonly string[];
};

/** Protects an image from removal, by any process, until released or until this process ends. */
export type ImageUse = {
  readonly image: LocalImage;
  readonly release: () => void;
};

export type GarbageOptions = {
  /** Nothing is removed for its size below this part of the disk in use. A kubelet's default is 85. */
  readonly highThresholdPercent: number;
  /** Images are removed until this part is in use. A kubelet's default is 80. */
  readonly lowThresholdPercent: number;
  /** Younger images are not removed for their size. A kubelet's default is 2 min. */
  readonly minAgeMs: number;
  /** Unused for longer: removed whatever the disk. 0: never, a kubelet's default. */
  readonly maxAgeMs: number;
  readonly now: number;
  /** IDs of images that containers use, beyond those with an ImageUse. */
  readonly inUse: ReadonlySet<string>;
  readonly signal: AbortSignal;
};

export type GarbageResult = {
  readonly removed: readonly LocalImage[];
  readonly freedBytes: number;
  /** What had to be freed for the low threshold; 0 below the high one. More than `freedBytes` is a kubelet's FreeDiskSpaceFailed. */
  readonly wantedBytes: number;
  readonly usedPercent: number;
};

export type ImageStore = {
  /** By name (`nginx`, `docker.io/library/nginx:1`), name with digest, or ID (`sha256:...`, or its hex digits, or at least 12 of them). Throws InvalidImageName. */
  readonly find: (name: string) => Promise<LocalImage | undefined>;
  readonly list: () => Promise<readonly LocalImage[]>;
  /**
   * From its registry, always asking it; layers that are here are not fetched again. Connections start in the network namespace of the thread, so a thread
   * inside another namespace leaves pulling to one outside, with a store of its own for the same directory. Throws ImageError.
   */
  readonly pull: (name: string, options: PullOptions) => Promise<LocalImage>;
  /**
   * All images of an OCI layout (a directory, or as a tar file) or a `docker save` archive, from a path or a stream. `name` is for an image that has none
   * in the archive. Throws ImageError.
   */
  readonly load: (
    source: string | AsyncIterable<Buffer>,
    options: { readonly signal: AbortSignal; readonly name?: string },
  ) => Promise<readonly LocalImage[]>;
  /** A name, and the image itself with its last name. By ID, all its names. Undefined if there is none. Throws ImageError with code InUse. */
  readonly remove: (name: string) => Promise<RemovedName | undefined>;
  /** Unpacks layers that are not unpacked yet, in a thread; each is unpacked once for all containers and nodes. Throws ImageError. */
  readonly unpack: (image: LocalImage, signal: AbortSignal) => Promise<UnpackedImage>;
  /** Undefined if there is no such image. Call it before `unpack`, and release it when the container's root is unmounted. */
  readonly use: (id: string) => Promise<ImageUse | undefined>;
  /** Removes unused images as a kubelet does, and unpacked layers that no image has. Only for who unpacks: layers may belong to subordinate IDs. */
  readonly collectGarbage: (options: GarbageOptions) => Promise<GarbageResult>;
  /** Ends downloads and threads. */
  readonly close: () => Promise<void>;
};

export type RemovedName = {
  readonly untagged: readonly string[];
  /** The ID, if the image itself was removed. */
  readonly deleted?: string;
};

/** Absent: the defaults, which are constants of the same names. */
export type ImageLimits = {
  /** Of one layer as a tar file. */
  readonly maxLayerBytes?: number;
  /** Of all layers of an image as tar files. */
  readonly maxImageBytes?: number;
  /** Files, directories and links in one layer. */
  readonly maxLayerEntries?: number;
  /** Without a byte from a registry. */
  readonly stallMs?: number;
};

/** The options of `openImageStore(options): Promise<ImageStore>`. */
export type ImageStoreOptions = {
  /** Made if it is missing, readable only by this user. `<data-dir>/images`, for `up` and for `fairlead image`. */
  readonly directory: string;
  /** Mirrors and registries without TLS: parseRegistrySettings(). */
  readonly registries?: RegistrySettings;
  /** For HTTPS_PROXY, HTTP_PROXY and NO_PROXY. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly limits?: ImageLimits;
  readonly now?: () => number;
  readonly log?: Log;
};
