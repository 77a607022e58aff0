/** The kubeconfig, or a credential that it names, cannot be used; the message says why. */
export class KubeconfigError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'KubeconfigError';
  }
}
