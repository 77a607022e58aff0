// How registries are reached: mirrors, plain HTTP, authorities.

export type RegistrySetting = {
  /** URLs that are tried first, in this order: `https://mirror.example:5000`, with a path if the mirror has one. */
  readonly mirrors: readonly string[];
  /** Plain HTTP is allowed, and certificates are not verified. Loopback addresses may always use plain HTTP, as with Docker. */
  readonly isInsecure: boolean;
  /** PEM. */
  readonly certificateAuthority?: string;
};

/** By host, or host:port, as in names of images. */
export type RegistrySettings = ReadonlyMap<string, RegistrySetting>;
