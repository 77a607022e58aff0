// A request for the log: user, verb and path, without secrets.
import type { WorkDescription } from '../../observe/current-work.ts';
import type { User } from '../access/user.ts';
import { type ApiRequest, header } from '../message.ts';
import type { RequestInfo } from './request-info.ts';

/** Clients choose the length of a path. */
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

/** What follows `proxy` is the path of another server, which may contain tokens. */
function withoutSecrets(path: string): string {
  const at = path.indexOf('/proxy/');
  return at === -1 ? path : path.slice(0, at + '/proxy'.length);
}
