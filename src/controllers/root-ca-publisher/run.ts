// Keeps the ConfigMap `kube-root-ca.crt` in every namespace: created with it, restored when changed or deleted.

import { startReconciler } from '../../client/reconcile.ts';
import { resourceClient } from '../../client/rest.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import { configMapDefinition } from '../../kinds/config-map/definition.ts';
import { namespaceDefinition } from '../../kinds/namespace/definition.ts';
import { isTerminating } from '../../kinds/namespace/life-cycle.ts';
import { isNamespaceTerminating } from '../../kinds/namespace/terminating-error.ts';
import { may, mayWatch } from '../../kinds/rbac/rights.ts';
import { isAlreadyExists, isNotFound } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { Controller } from '../controller.ts';
import { desiredRootCa, rootCaName } from './desired.ts';

export const rootCaPublisher: Controller = {
  name: 'root-ca-certificate-publisher-controller',
  shortName: 'root-ca-cert-publisher',
  account: 'root-ca-cert-publisher',
  watches: [
    ...mayWatch(namespaceDefinition),
    may('list watch', configMapDefinition, { names: [rootCaName] }),
  ],
  rights: [
    may('update', configMapDefinition, { names: [rootCaName] }),
    may('create', configMapDefinition),
  ],
  async run(shared, signal) {
    const { caller, informers, clock, log, authorityCertificate, queueMetrics: metrics } = shared;
    if (authorityCertificate === '') return log.info('No CA bundle to publish');
    const namespaces = informers.of(namespaceDefinition);
    const bundles = informers.of(configMapDefinition, {
      fieldSelector: `metadata.name=${rootCaName}`,
    });
    const client = resourceClient(caller, configMapDefinition);
    if (!(await waitForSync([namespaces, bundles], signal))) return;

    const reconcile = async (name: string): Promise<undefined> => {
      const namespace = namespaces.store.get(name);
      if (namespace === undefined || isTerminating(namespace)) return;
      const change = desiredRootCa(
        name,
        authorityCertificate,
        bundles.store.get(`${name}/${rootCaName}`),
      );
      try {
        if (change.action === 'create') await client.create(change.configMap);
        if (change.action === 'update') await client.update(change.configMap);
      } catch (error) {
        // Another replica created it, or the namespace is terminating: an event follows either way.
        if (!isAlreadyExists(error) && !isNamespaceTerminating(error) && !isNotFound(error))
          throw error;
      }
    };
    const { queue, ended } = startReconciler(
      { name: 'root_ca_cert_publisher', reconcile, clock, log, metrics },
      signal,
    );
    const addNamespaceOf = ({ metadata }: KubeObject): void => queue.add(metadata.namespace ?? '');
    const stops = [
      namespaces.onChange({
        add: ({ metadata }) => queue.add(metadata.name ?? ''),
        update: (_before, { metadata }) => queue.add(metadata.name ?? ''),
      }),
      bundles.onChange({
        update: (_before, after) => addNamespaceOf(after),
        delete: addNamespaceOf,
      }),
    ];
    await ended;
    for (const stop of stops) stop();
  },
};
