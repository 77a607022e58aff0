// Replica sets and replication controllers: they differ in kind and selector only.
import { replicaSetDefinition } from '../../kinds/replica-set/definition.ts';
import { replicationControllerDefinition } from '../../kinds/replication-controller/definition.ts';
import { selectorFromLabelSelector, selectorFromMap, selectsNothing } from '../../meta/labels.ts';
import { replicaController } from './run-replicas.ts';

export const replicaSetController = replicaController({
  type: replicaSetDefinition,
  names: {
    name: 'replicaset-controller',
    shortName: 'replicaset',
    account: 'replicaset-controller',
  },
  queue: 'replicaset',
  concurrencyOf: (settings) => settings.concurrentReplicaSetSyncs,
  component: 'replicaset-controller',
  selectorOf: ({ spec }) => selectorFromLabelSelector(spec.selector),
  countsTerminating: true,
});

export const replicationControllerController = replicaController({
  type: replicationControllerDefinition,
  names: {
    name: 'replicationcontroller-controller',
    shortName: 'replicationcontroller',
    account: 'replication-controller',
  },
  queue: 'replicationmanager',
  concurrencyOf: (settings) => settings.concurrentReplicationControllerSyncs,
  component: 'replication-controller',
  selectorOf: ({ spec }) =>
    Object.keys(spec.selector ?? {}).length === 0 ? selectsNothing : selectorFromMap(spec.selector),
  countsTerminating: false,
});
