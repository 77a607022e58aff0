// Requests a token of a service account, as `kubectl create token` does.
import type { Command } from 'commander';
import { callApi } from '../../client/api-call.ts';
import { resourcePath } from '../../client/resource.ts';
import type { Session } from '../../flags/client-flags.ts';
import { FailedError } from '../../flags/command.ts';
import { repeated, seconds } from '../../flags/parse-flags.ts';
import { serviceAccountDefinition } from '../../kinds/service-account/definition.ts';

export type TokenFlags = {
  readonly duration?: number;
  readonly audience?: readonly string[];
  readonly boundObjectKind?: string;
  readonly boundObjectName?: string;
  readonly boundObjectUid?: string;
};

export function addTokenFlags(command: Command): Command {
  return command
    .option('--duration <time>', 'Lifetime of the token, at least 10m (default: 1h)', seconds)
    .option(
      '--audience <name>',
      'Audience of the token. May be repeated (default: the API server)',
      repeated,
    )
    .option(
      '--bound-object-kind <kind>',
      'Kind of the object that the token is bound to: Pod, Secret or Node. The token expires when the object is deleted',
    )
    .option('--bound-object-name <name>', 'Name of the bound object')
    .option(
      '--bound-object-uid <uid>',
      'UID of the bound object (default: that of the current object)',
    );
}

export async function requestToken(
  { caller, namespace }: Session,
  account: string,
  flags: TokenFlags,
): Promise<string> {
  const { duration, audience = [], boundObjectKind: kind, boundObjectName: name } = flags;
  const uid = flags.boundObjectUid;
  const answer = await callApi(caller, {
    method: 'POST',
    path: resourcePath(serviceAccountDefinition, {
      namespace,
      name: account,
      subresource: 'token',
    }),
    body: {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      spec: {
        audiences: audience,
        ...(duration === undefined ? {} : { expirationSeconds: duration }),
        ...(kind === undefined ? {} : { boundObjectRef: { kind, apiVersion: 'v1', name, uid } }),
      },
    },
  });
  const { token } = (answer as { status?: { token?: string } }).status ?? {};
  if (token) return token;
  throw new FailedError('The server answered without a token.');
}
