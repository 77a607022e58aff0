// Deletes old certificate signing requests.

import { resourceClient } from '../../client/rest.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import { sleep } from '../../host/clock.ts';
import { certificateSigningRequestDefinition } from '../../kinds/certificate-signing-request/definition.ts';
import { may, mayWatch } from '../../kinds/rbac/rights.ts';
import { isNotFound } from '../../meta/api-error.ts';
import type { Controller } from '../controller.ts';
import { removalTime } from './desired.ts';

/** As upstream. */
const everyMs = 3_600_000;

export const csrCleaner: Controller = {
  name: 'certificatesigningrequest-cleaner-controller',
  shortName: 'csrcleaner',
  account: 'certificate-controller',
  watches: mayWatch(certificateSigningRequestDefinition),
  rights: [may('delete', certificateSigningRequestDefinition)],
  async run({ caller, informers, clock, log }, signal) {
    const requests = informers.of(certificateSigningRequestDefinition);
    const client = resourceClient(caller, certificateSigningRequestDefinition);
    if (!(await waitForSync([requests], signal))) return;
    while (!signal.aborted) {
      for (const request of [...requests.store.values()]) {
        const { name = '' } = request.metadata;
        if (removalTime(request) > clock.now()) continue;
        try {
          await client.delete({ name });
        } catch (error) {
          if (!isNotFound(error))
            log.warn('Failed to delete certificate signing request, retrying later', {
              name,
              error: String(error),
            });
        }
      }
      await sleep(clock, everyMs, signal);
    }
  },
};
