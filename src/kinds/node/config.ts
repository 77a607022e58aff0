// Dynamic kubelet configuration: no longer supported, still part of the schema.
import * as s from '../../schema/node.ts';
import { must } from '../pod/references.ts';

export const nodeConfigSource = s.struct(
  'NodeConfigSource',
  {
    configMap: s.pointer(
      s.struct(
        'ConfigMapNodeConfigSource',
        {
          namespace: must(s.string('Namespace of the ConfigMap.')),
          name: must(s.string('Name of the ConfigMap.')),
          uid: s.string('UID of the ConfigMap.'),
          resourceVersion: s.string('Version of the ConfigMap.'),
          kubeletConfigKey: must(s.string('Key with the configuration.')),
        },
        { numbers: [1, 2, 3, 4, 5] },
      ),
      'A ConfigMap with the configuration.',
    ),
  },
  { numbers: [2] },
);

export const nodeConfigStatus = s.struct(
  'NodeConfigStatus',
  {
    assigned: s.pointer(nodeConfigSource, 'What the node shall use.'),
    active: s.pointer(nodeConfigSource, 'What the node uses.'),
    lastKnownGood: s.pointer(nodeConfigSource, 'What the node falls back to.'),
    error: s.string('What went wrong.'),
  },
  { numbers: [1, 2, 3, 4] },
);
