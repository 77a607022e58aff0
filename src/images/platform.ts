// Which of the images behind one name runs on this machine. Pure.

export type Platform = {
  readonly os: string;
  readonly architecture: string;
  readonly variant?: string;
};

/** Names of Node.js → names of images, those of Go; variants that the machine runs, best first. */
const architectures: Readonly<
  Record<string, readonly [name: string, variants: readonly string[]]>
> = {
  x64: ['amd64', ['', 'v1']],
  arm64: ['arm64', ['v8', '']],
  arm: ['arm', ['v7', '', 'v6', 'v5']],
  ia32: ['386', ['']],
  ppc64: ['ppc64le', ['']],
  s390x: ['s390x', ['']],
  riscv64: ['riscv64', ['']],
  loong64: ['loong64', ['']],
};

/** Undefined if none of them fits. Those without a platform are taken where no other fits. */
export function choosePlatform<T extends { readonly platform?: Platform }>(
  manifests: readonly T[],
  nodeArchitecture: string,
): T | undefined {
  const [name, variants] = architectures[nodeArchitecture] ?? [nodeArchitecture, ['']];
  for (const wanted of variants) {
    const found = manifests.find(
      ({ platform }) =>
        platform?.os === 'linux' &&
        platform.architecture === name &&
        (platform.variant ?? '') === wanted,
    );
    if (found !== undefined) return found;
  }
  return manifests.find(({ platform }) => platform === undefined);
}

/** As in messages: `linux/amd64`. */
export const platformText = (nodeArchitecture: string): string =>
  `linux/${architectures[nodeArchitecture]?.[0] ?? nodeArchitecture}`;
