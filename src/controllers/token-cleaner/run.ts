// Deletes expired bootstrap tokens. Upstream: controller/bootstrap/tokencleaner.go.

import { startReconciler } from '../../client/reconcile.ts';
import { resourceClient } from '../../client/rest.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import { may } from '../../kinds/rbac/rights.ts';
import {
  bootstrapTokenNamespace,
  bootstrapTokenType,
  hasExpired,
  readBootstrapToken,
} from '../../kinds/secret/bootstrap-token.ts';
import { secretDefinition } from '../../kinds/secret/definition.ts';
import { isConflict, isNotFound } from '../../meta/api-error.ts';
import { type KubeObject, objectKey } from '../../meta/object.ts';
import type { Controller } from '../controller.ts';

export const tokenCleaner: Controller = {
  name: 'token-cleaner-controller',
  shortName: 'tokencleaner',
  account: 'token-cleaner',
  watches: [may('list watch', secretDefinition, { namespace: bootstrapTokenNamespace })],
  rights: [may('delete', secretDefinition, { namespace: bootstrapTokenNamespace })],
  async run({ caller, informers, clock, log, queueMetrics: metrics }, signal) {
    const tokens = informers.of(secretDefinition, {
      namespace: bootstrapTokenNamespace,
      fieldSelector: `type=${bootstrapTokenType}`,
    });
    const client = resourceClient(caller, secretDefinition);
    if (!(await waitForSync([tokens], signal))) return;
    const reconcile = async (key: string): Promise<{ retryAfterMs: number } | undefined> => {
      const secret = tokens.store.get(key);
      const token = secret && readBootstrapToken(secret);
      if (secret === undefined || token?.expires === undefined) return undefined;
      if (!hasExpired(token, clock.now())) return { retryAfterMs: token.expires - clock.now() };
      const { name = '', namespace = '', uid = '', resourceVersion = '' } = secret.metadata;
      try {
        // A concurrent extension of the token wins.
        await client.delete({ namespace, name }, { preconditions: { uid, resourceVersion } });
        log.info('Deleted expired bootstrap token', { id: token.id });
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
      return undefined;
    };
    const { queue, ended } = startReconciler(
      { name: 'token_cleaner', reconcile, clock, log, metrics },
      signal,
    );
    const add = ({ metadata }: KubeObject): void => queue.add(objectKey(metadata));
    const stop = tokens.onChange({ add, update: (_before, after) => add(after) });
    await ended;
    stop();
  },
};
