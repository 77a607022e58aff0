// When certificate signing requests are deleted: an hour after they were issued, denied or failed; otherwise a day after
// their approval or creation. Upstream: controller/certificates/cleaner.
import {
  hasFailed,
  isApproved,
  isDenied,
} from '../../kinds/certificate-signing-request/conditions.ts';
import type { CertificateSigningRequest } from '../../kinds/certificate-signing-request/types.ts';
import { parseTime } from '../../schema/time.ts';

const hourMs = 3_600_000;
const decidedMs = hourMs;
const pendingMs = 24 * hourMs;

/** In milliseconds since 1970. */
export function removalTime(request: CertificateSigningRequest): number {
  const decided = (request.status.conditions ?? [])
    .filter(({ type }) => ['Approved', 'Denied', 'Failed'].includes(type))
    .map((one) => parseTime(one.lastUpdateTime ?? '') ?? 0);
  const isOver = isDenied(request) || hasFailed(request) || Boolean(request.status.certificate);
  if (isOver && decided.length > 0) return Math.max(...decided) + decidedMs;
  const since = isApproved(request) ? Math.max(...decided) : 0;
  const created = parseTime(request.metadata.creationTimestamp ?? '') ?? 0;
  return Math.max(since, created) + pendingMs;
}
