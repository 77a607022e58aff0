// A request as it may stand in a log: who asks for what, and nothing that is secret.
import type { WorkDescription } from '../../observe/current-work.ts';
import type { User } from '../access/user.ts';
import { type ApiRequest, header } from '../message.ts';
import type { RequestInfo } from './request-info.ts';

/** A path is as long as the client likes. */
const maxTextLength = 256;

export function describeRequest({
  request,
  info,
  user,
  startedAt,
}: {
  readonly request: ApiRequest;
  readonly info: RequestInfo;
  readonly user: User | undefined;
  readonly startedAt: number;
}): WorkDescription {
  return {
    kind: 'request',
    verb: info.verb,
    path: withoutSecrets(request.path).slice(0, maxTextLength),
    user: user?.name.slice(0, maxTextLength),
    bytes: Number(header(request, 'content-length') ?? 0),
    ageSeconds: Math.round(performance.now() - startedAt) / 1000,
  };
}

/** What stands behind `proxy` is the path of somebody else's server, who may take tokens there. */
function withoutSecrets(path: string): string {
  const at = path.indexOf('/proxy/');
  return at === -1 ? path : path.slice(0, at + '/proxy'.length);
}
