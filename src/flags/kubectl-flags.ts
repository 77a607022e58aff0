// The flags that every command of kubectl has and other commands here do not: as a plugin, users expect them. `kubectl options` lists them.
import type { Command } from 'commander';
import type { KubeconfigOverrides } from '../client/kubeconfig.ts';
import { duration } from './parse-values.ts';

export type KubectlFlags = {
  readonly cluster?: string;
  readonly user?: string;
  readonly server?: string;
  readonly token?: string;
  readonly requestTimeout?: number;
  readonly insecureSkipTlsVerify?: true;
  readonly tlsServerName?: string;
  readonly certificateAuthority?: string;
  readonly clientCertificate?: string;
  readonly clientKey?: string;
};

export function addKubectlFlags(command: Command): Command {
  return command
    .optionsGroup('Options of every command of kubectl:')
    .option('--cluster <name>', 'Cluster of the kubeconfig to use')
    .option('--user <name>', 'User of the kubeconfig to use')
    .option('-s, --server <url>', 'Address of the API server')
    .option('--token <token>', 'Bearer token for the API server')
    .option(
      '--request-timeout <time>',
      'Longest time that a request may take, such as 5s (default: no limit)',
      requestTimeout,
    )
    .option(
      '--insecure-skip-tls-verify',
      'Does not check the certificate of the server, which makes the connection insecure',
    )
    .option('--tls-server-name <name>', 'Name that the certificate of the server must have')
    .option('--certificate-authority <file>', 'Authority that signed the certificate of the server')
    .option('--client-certificate <file>', 'Client certificate')
    .option('--client-key <file>', 'Key of the client certificate');
}

/** Of a command to which they were added. */
export function readKubectlFlags(flags: object): KubectlFlags {
  return flags as KubectlFlags;
}

const parseTimeout = duration();

/** A number alone is one of seconds. */
function requestTimeout(text: string): number {
  return parseTimeout(/^\d+$/.test(text) ? `${text}s` : text);
}

/** Under the names that these fields have in a kubeconfig. File names are relative to the working directory. */
export function kubeconfigOverrides(
  flags: KubectlFlags,
  absolute: (path: string) => string,
): KubeconfigOverrides {
  const { cluster, user, server, token, tlsServerName } = flags;
  const { insecureSkipTlsVerify, certificateAuthority, clientCertificate, clientKey } = flags;
  const file = (path: string | undefined) => (path === undefined ? undefined : absolute(path));
  return {
    ...(cluster === undefined ? {} : { cluster }),
    ...(user === undefined ? {} : { user }),
    clusterFields: present({
      server,
      'tls-server-name': tlsServerName,
      'insecure-skip-tls-verify': insecureSkipTlsVerify,
      'certificate-authority': file(certificateAuthority),
    }),
    userFields: present({
      token,
      'client-certificate': file(clientCertificate),
      'client-key': file(clientKey),
    }),
  };
}

function present(
  fields: Readonly<Record<string, string | true | undefined>>,
): KubeconfigOverrides['userFields'] {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
