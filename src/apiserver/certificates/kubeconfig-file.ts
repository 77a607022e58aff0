// The kubeconfig that lets kubectl and other clients in: one cluster, one user, one context, all named fairlead.
import { renderOtherServers } from '../../meta/kubeconfig-servers.ts';
import { writePrivateFile } from './private-file.ts';
import type { KeyPair } from './x509.ts';

export type KubeconfigOptions = {
  /** `https://127.0.0.1:6443` */
  readonly server: string;
  /** More servers of the same cluster. */
  readonly otherServers?: readonly string[];
  /** The authority's certificate, PEM. */
  readonly authority: string;
  /** The client credentials: a certificate with its key, or a token. */
  readonly client: KeyPair | { readonly token: string };
  /** Where the client looks when it is not told; absent: `default`. */
  readonly namespace?: string;
};

/** Plain block YAML, one `key: value` a line, so that scripts can read it without a parser. */
export function renderKubeconfig(options: KubeconfigOptions): string {
  const { server, otherServers = [], authority, client, namespace } = options;
  return [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    '- cluster:',
    `    certificate-authority-data: ${base64(authority)}`,
    ...renderOtherServers(otherServers),
    `    server: ${server}`,
    '  name: fairlead',
    'contexts:',
    '- context:',
    '    cluster: fairlead',
    ...(namespace === undefined ? [] : [`    namespace: ${namespace}`]),
    '    user: fairlead',
    '  name: fairlead',
    'current-context: fairlead',
    'users:',
    '- name: fairlead',
    '  user:',
    ...('token' in client
      ? [`    token: ${JSON.stringify(client.token)}`]
      : [
          `    client-certificate-data: ${base64(client.certificate)}`,
          `    client-key-data: ${base64(client.privateKey)}`,
        ]),
    '',
  ].join('\n');
}

export async function writeKubeconfig(path: string, options: KubeconfigOptions): Promise<void> {
  await writePrivateFile(path, renderKubeconfig(options));
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
