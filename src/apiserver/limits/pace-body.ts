// Bodies that become whole in the same moment, as when a client holds back the last byte of a hundred of them, are not all
// worked on in that moment: large ones begin in iterations of the event loop of their own, in fair turns between users.
import { untilNotDue } from '../../host/yield-when-due.ts';
import type { User } from '../access/user.ts';
import { type ApiRequest, header } from '../message.ts';
import type { Gate } from './gate.ts';

/** Reading one takes milliseconds. */
const largeBytes = 64 * 1024;
/** Below this a body is read in well below a tenth of a millisecond. Nearly all are. */
const smallBytes = 8 * 1024;

export function paceBody(
  request: ApiRequest,
  { waitForCostlySlot }: Pick<Gate, 'waitForCostlySlot'>,
  user: User,
): ApiRequest {
  if (hasSmallBody(request)) return request;
  return {
    ...request,
    async body() {
      const bytes = await request.body();
      if (bytes.length >= largeBytes) await waitForCostlySlot(user, request.signal);
      else if (bytes.length >= smallBytes) await untilNotDue();
      return bytes;
    },
  };
}

/** By what its head says, which the connection holds it to. Parts in the same process send no such bodies. */
function hasSmallBody(request: ApiRequest): boolean {
  const { method, peer } = request;
  if (method === 'GET' || method === 'HEAD' || peer.local !== undefined) return true;
  const length = header(request, 'content-length');
  return length !== undefined && Number(length) < smallBytes;
}
