/** Why a container cannot be made as it is configured. */
export class ContainerConfigError extends Error {
  override readonly name = 'ContainerConfigError';
}
