import { nameIsDnsSubdomain } from '../../meta/names.ts';
import type { KindDefinition, SubresourceDefinition } from '../definition.ts';
import { ageColumn, nameColumn } from '../metadata-columns.ts';
import { type ServiceAccount, serviceAccountSchema } from './types.ts';

const mountableSecretsAnnotation = 'kubernetes.io/enforce-mountable-secrets';

const token: SubresourceDefinition<ServiceAccount> = {
  name: 'token',
  kind: 'TokenRequest',
  group: 'authentication.k8s.io',
  version: 'v1',
  verbs: ['create'],
};

export const serviceAccountDefinition: KindDefinition<ServiceAccount> = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  singular: 'serviceaccount',
  shortNames: ['sa'],
  namespaced: true,
  schema: serviceAccountSchema,
  nameRule: nameIsDnsSubdomain,
  create: {
    prepareCreate: prepare,
    validateCreate: () => [],
    warnOnCreate: warnings,
  },
  update: {
    prepareUpdate: (_before, after) => prepare(after),
    validateUpdate: () => [],
    warnOnUpdate: (before, after) => (warnings(before).length > 0 ? [] : warnings(after)),
  },
  deleteAnswersObject: true,
  subresources: [token],
  columns: [nameColumn, ageColumn],
  fieldSelectorError: 'known',
};

/** References to secrets keep only the name: other fields could point elsewhere. */
function prepare(account: ServiceAccount): ServiceAccount {
  const { secrets } = account;
  if (secrets === undefined) return account;
  return { ...account, secrets: secrets.map(({ name }) => (name === undefined ? {} : { name })) };
}

function warnings({ metadata }: ServiceAccount): readonly string[] {
  return metadata.annotations?.[mountableSecretsAnnotation] === undefined
    ? []
    : [
        `metadata.annotations[${mountableSecretsAnnotation}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
      ];
}
