// Keeps the signatures of the ConfigMap `cluster-info` in step with the bootstrap tokens.

import { createHmac } from 'node:crypto';
import { startReconciler } from '../../client/reconcile.ts';
import { resourceClient } from '../../client/rest.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import { clusterInfo } from '../../kinds/config-map/cluster-info.ts';
import { configMapDefinition } from '../../kinds/config-map/definition.ts';
import { may } from '../../kinds/rbac/rights.ts';
import { bootstrapTokenNamespace, bootstrapTokenType } from '../../kinds/secret/bootstrap-token.ts';
import { secretDefinition } from '../../kinds/secret/definition.ts';
import type { Controller } from '../controller.ts';
import { desiredClusterInfo } from './desired.ts';

const mac = (secret: string, text: string): string =>
  createHmac('sha256', secret).update(text).digest('base64url');

const publicInfo = { namespace: clusterInfo.namespace, names: [clusterInfo.name] };

export const bootstrapSigner: Controller = {
  name: 'bootstrap-signer-controller',
  shortName: 'bootstrapsigner',
  account: 'bootstrap-signer',
  watches: [
    may('list watch', secretDefinition, { namespace: bootstrapTokenNamespace }),
    may('list watch', configMapDefinition, publicInfo),
  ],
  rights: [may('update', configMapDefinition, publicInfo)],
  async run({ caller, informers, clock, log, queueMetrics: metrics }, signal) {
    const tokens = informers.of(secretDefinition, {
      namespace: bootstrapTokenNamespace,
      fieldSelector: `type=${bootstrapTokenType}`,
    });
    const maps = informers.of(configMapDefinition, {
      namespace: clusterInfo.namespace,
      fieldSelector: `metadata.name=${clusterInfo.name}`,
    });
    const client = resourceClient(caller, configMapDefinition);
    if (!(await waitForSync([tokens, maps], signal))) return;
    const key = `${clusterInfo.namespace}/${clusterInfo.name}`;
    const reconcile = async (): Promise<undefined> => {
      const actual = maps.store.get(key);
      if (actual === undefined) return;
      const secrets = [...tokens.store.values()];
      const wanted = desiredClusterInfo(actual, { secrets, now: clock.now(), mac });
      if (wanted !== undefined) await client.update(wanted);
    };
    const { queue, ended } = startReconciler(
      { name: 'bootstrap_signer', reconcile, clock, log, metrics },
      signal,
    );
    const enqueue = (): void => queue.add(key);
    enqueue();
    const stops = [tokens, maps].map((informer) =>
      informer.onChange({ add: enqueue, update: enqueue, delete: enqueue }),
    );
    await ended;
    for (const stop of stops) stop();
  },
};
