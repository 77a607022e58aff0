import { nameIsDnsSubdomain } from '../../meta/names.ts';
import type { KindDefinition } from '../definition.ts';
import { ageColumn, nameColumn } from '../metadata-columns.ts';
import { type ConfigMap, configMapSchema } from './types.ts';
import { validateConfigMap, validateConfigMapUpdate } from './validate.ts';

export const configMapDefinition: KindDefinition<ConfigMap> = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  singular: 'configmap',
  shortNames: ['cm'],
  namespaced: true,
  schema: configMapSchema,
  nameRule: nameIsDnsSubdomain,
  create: { validateCreate: validateConfigMap },
  update: { validateUpdate: validateConfigMapUpdate },
  columns: [
    nameColumn,
    {
      name: 'Data',
      type: 'string',
      description:
        "Data contains the configuration data. Each key must consist of alphanumeric characters, '-', '_' or '.'. Values with non-UTF-8 byte sequences must use the BinaryData field. The keys stored in Data must not overlap with the keys in the BinaryData field, this is enforced during validation process.",
      cell: ({ data = {}, binaryData = {} }) =>
        Object.keys(data).length + Object.keys(binaryData).length,
    },
    ageColumn,
  ],
  fieldSelectorError: 'known',
};
