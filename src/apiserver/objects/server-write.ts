// The write request of the server itself.
import { apiServerManager } from '../../meta/field-managers.ts';
import { formatTime } from '../../schema/time.ts';
import { ownAdmission } from '../admission/admission.ts';
import type { ApiContext, WriteRequest } from '../context.ts';

const self = { name: 'system:apiserver', groups: ['system:masters'] };

export function serverWrite(context: Pick<ApiContext, 'now'>): WriteRequest {
  return {
    user: self,
    dryRun: false,
    manager: apiServerManager,
    now: formatTime(context.now()),
    admission: ownAdmission,
    warn: () => {},
  };
}
