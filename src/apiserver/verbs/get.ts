// One object as it is now.
import type { ApiResponse } from '../message.ts';
import { parseVersion } from '../request/list-options.ts';
import { answerObject, assertAcceptable } from './answer-object.ts';
import { type Call, liveObject } from './call.ts';
import { waitForRevision } from './wait-for-revision.ts';

/** At once, unless the client names a version that this server has not reached yet. */
export function get(call: Call): ApiResponse | Promise<ApiResponse> {
  assertAcceptable(call);
  const version = call.request.query.get('resourceVersion') ?? '';
  if (version === '') return answerLive(call);
  return waitForRevision(call, parseVersion(version, false)).then(() => answerLive(call));
}

const answerLive = (call: Call): ApiResponse => answerObject(call, 200, liveObject(call));
