// Refuses what the quotas of the namespace do not allow. What is allowed is charged when it is written (quota/charge.ts),
// after the same judgement once more. Kubernetes: plugin/pkg/admission/resourcequota.
import { type AdmissionPlugin, refused } from './admission.ts';

export const resourceQuota: AdmissionPlugin = {
  name: 'ResourceQuota',
  onByDefault: true,
  validate(request, { quotas }) {
    if (request.namespace === '') return undefined;
    const why = quotas.refusal(request);
    if (why !== undefined) throw refused(request, why);
    return undefined;
  },
};
