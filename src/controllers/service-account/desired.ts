// The service account of pods that name none.
import type { ServiceAccount } from '../../kinds/service-account/types.ts';

export const defaultAccountName = 'default';

export function defaultAccount(namespace: string): ServiceAccount {
  return {
    kind: 'ServiceAccount',
    apiVersion: 'v1',
    metadata: { name: defaultAccountName, namespace },
  };
}
