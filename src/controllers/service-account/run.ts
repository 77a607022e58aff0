// Keeps the ServiceAccount `default` in every active namespace.

import { startReconciler } from '../../client/reconcile.ts';
import { resourceClient } from '../../client/rest.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import { namespaceDefinition } from '../../kinds/namespace/definition.ts';
import { isTerminating } from '../../kinds/namespace/life-cycle.ts';
import { isNamespaceTerminating } from '../../kinds/namespace/terminating-error.ts';
import { may, mayWatch } from '../../kinds/rbac/rights.ts';
import { serviceAccountDefinition } from '../../kinds/service-account/definition.ts';
import { isAlreadyExists, isNotFound } from '../../meta/api-error.ts';
import type { Controller } from '../controller.ts';
import { defaultAccount, defaultAccountName } from './desired.ts';

export const serviceAccountController: Controller = {
  name: 'serviceaccount-controller',
  shortName: 'serviceaccount',
  account: 'service-account-controller',
  watches: [
    ...mayWatch(namespaceDefinition),
    may('list watch', serviceAccountDefinition, { names: [defaultAccountName] }),
  ],
  rights: [may('create', serviceAccountDefinition)],
  async run({ caller, informers, clock, log, queueMetrics: metrics }, signal) {
    const namespaces = informers.of(namespaceDefinition);
    const accounts = informers.of(serviceAccountDefinition, {
      fieldSelector: `metadata.name=${defaultAccountName}`,
    });
    const client = resourceClient(caller, serviceAccountDefinition);
    if (!(await waitForSync([namespaces, accounts], signal))) return;

    const reconcile = async (name: string): Promise<undefined> => {
      const namespace = namespaces.store.get(name);
      if (namespace === undefined || isTerminating(namespace)) return;
      if (accounts.store.has(`${name}/${defaultAccountName}`)) return;
      try {
        await client.create(defaultAccount(name));
      } catch (error) {
        // Another replica created it, or the namespace is terminating: an event follows either way.
        if (!isAlreadyExists(error) && !isNamespaceTerminating(error) && !isNotFound(error))
          throw error;
      }
    };
    const { queue, ended } = startReconciler(
      { name: 'serviceaccount', reconcile, clock, log, metrics },
      signal,
    );
    const stops = [
      namespaces.onChange({
        add: ({ metadata }) => queue.add(metadata.name ?? ''),
        update: (_before, { metadata }) => queue.add(metadata.name ?? ''),
      }),
      accounts.onChange({ delete: ({ metadata }) => queue.add(metadata.namespace ?? '') }),
    ];
    await ended;
    for (const stop of stops) stop();
  },
};
