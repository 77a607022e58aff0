// Credentials for registries, as data. Which of them are for an image is decided as a kubelet does (pkg/credentialprovider/keyring.go).

export type RegistryLogin =
  | { readonly kind: 'password'; readonly username: string; readonly password: string }
  /** A refresh token, exchanged for tokens of the registry's token server. */
  | { readonly kind: 'identity'; readonly identityToken: string }
  /** Sent to the registry as it is. */
  | { readonly kind: 'registry'; readonly registryToken: string };

export type KeyringEntry = {
  /** `registry.example`, `*.registry.example:5000`, `registry.example/team`. */
  readonly pattern: string;
  readonly login: RegistryLogin;
};

/** In the order in which they are tried among those with equal patterns. Keyrings are joined as lists. */
export type Keyring = readonly KeyringEntry[];
