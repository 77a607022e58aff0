import { nameIsDnsSubdomain } from '../../meta/names.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { KindDefinition } from '../definition.ts';
import { podColumns, podRowConditions } from './columns.ts';
import { defaultPod } from './defaults.ts';
import { podGraceSeconds } from './grace.ts';
import {
  prepareEphemeralUpdate,
  preparePodCreate,
  preparePodStatusUpdate,
  preparePodUpdate,
} from './prepare.ts';
import { preparePodResize, validatePodResize } from './resize.ts';
import { type Pod, podSchema } from './types.ts';
import { validateEphemeralUpdate, validatePodCreate, validatePodUpdate } from './validate.ts';
import { validatePodStatusUpdate } from './validate-status.ts';
import { podStatusWarnings, podWarnings } from './warnings.ts';

export const podDefinition: KindDefinition<Pod> = {
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  singular: 'pod',
  shortNames: ['po'],
  categories: ['all'],
  namespaced: true,
  schema: podSchema,
  nameRule: nameIsDnsSubdomain,
  defaults: defaultPod,
  create: {
    prepareCreate: preparePodCreate,
    validateCreate: validatePodCreate,
    warnOnCreate: podWarnings,
  },
  update: { prepareUpdate: preparePodUpdate, validateUpdate: validatePodUpdate },
  generationChanges: (before, after) => !deepEqual(before.spec, after.spec),
  graceSeconds: podGraceSeconds,
  deleteAnswersObject: true,
  subresources: [
    { name: 'attach', kind: 'PodAttachOptions', verbs: ['create', 'get'] },
    { name: 'binding', kind: 'Binding', verbs: ['create'] },
    {
      name: 'ephemeralcontainers',
      verbs: ['get', 'patch', 'update'],
      rules: { prepareUpdate: prepareEphemeralUpdate, validateUpdate: validateEphemeralUpdate },
    },
    { name: 'eviction', kind: 'Eviction', group: 'policy', version: 'v1', verbs: ['create'] },
    { name: 'exec', kind: 'PodExecOptions', verbs: ['create', 'get'] },
    { name: 'log', verbs: ['get'] },
    { name: 'portforward', kind: 'PodPortForwardOptions', verbs: ['create', 'get'] },
    {
      name: 'proxy',
      kind: 'PodProxyOptions',
      verbs: ['create', 'delete', 'get', 'patch', 'update'],
    },
    {
      name: 'resize',
      verbs: ['get', 'patch', 'update'],
      rules: { prepareUpdate: preparePodResize, validateUpdate: validatePodResize },
    },
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      rules: {
        prepareUpdate: preparePodStatusUpdate,
        validateUpdate: validatePodStatusUpdate,
        warnOnUpdate: podStatusWarnings,
        resetFields: [['spec'], ['metadata', 'ownerReferences']],
      },
    },
  ],
  columns: podColumns,
  rowConditions: podRowConditions,
  fieldSelectors: {
    'spec.nodeName': ({ spec }) => spec.nodeName ?? '',
    // An alias from Kubernetes' first years.
    'spec.host': ({ spec }) => spec.nodeName ?? '',
    'spec.restartPolicy': ({ spec }) => spec.restartPolicy ?? '',
    'spec.schedulerName': ({ spec }) => spec.schedulerName ?? '',
    'spec.serviceAccountName': ({ spec }) => spec.serviceAccountName ?? '',
    'spec.hostNetwork': ({ spec }) => String(spec.hostNetwork ?? false),
    'status.phase': ({ status }) => status.phase ?? '',
    'status.podIP': ({ status }) => status.podIPs?.[0]?.ip ?? '',
    'status.podIPs': ({ status }) => status.podIPs?.[0]?.ip ?? '',
    'status.nominatedNodeName': ({ status }) => status.nominatedNodeName ?? '',
  },
  fieldSelectorError: 'label',
};
