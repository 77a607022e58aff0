import { nameIsDnsSubdomain } from '../../meta/names.ts';
import type { KindDefinition } from '../definition.ts';
import { ageColumn, nameColumn } from '../metadata-columns.ts';
import { defaultSecret } from './defaults.ts';
import { type Secret, secretSchema } from './types.ts';
import { validateSecret, validateSecretUpdate } from './validate.ts';
import { secretWarnings } from './warnings.ts';

export const secretDefinition: KindDefinition<Secret> = {
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  singular: 'secret',
  namespaced: true,
  schema: secretSchema,
  nameRule: nameIsDnsSubdomain,
  defaults: defaultSecret,
  create: { validateCreate: validateSecret, warnOnCreate: secretWarnings },
  update: {
    validateUpdate: validateSecretUpdate,
    warnOnUpdate: (_before, after) => secretWarnings(after),
  },
  columns: [
    nameColumn,
    {
      name: 'Type',
      type: 'string',
      description:
        'Used to facilitate programmatic handling of secret data. More info: https://kubernetes.io/docs/concepts/configuration/secret/#secret-types',
      cell: ({ type = '' }) => type,
    },
    {
      name: 'Data',
      type: 'string',
      description:
        "Data contains the secret data. Each key must consist of alphanumeric characters, '-', '_' or '.'. The serialized form of the secret data is a base64 encoded string, representing the arbitrary (possibly non-string) data value here. Described in https://tools.ietf.org/html/rfc4648#section-4",
      cell: ({ data = {} }) => Object.keys(data).length,
    },
    ageColumn,
  ],
  fieldSelectors: { type: ({ type = '' }) => type },
  fieldSelectorError: 'label',
};
