// The files of a machine that has joined: authority, certificates with their keys, and a kubeconfig that refers to them. A certificate
// and its key are in one file, so that a renewal replaces both atomically.
import { existsSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readPrivateFile, writePrivateFile } from '../apiserver/certificates/private-file.ts';
import type { KeyPair } from '../apiserver/certificates/x509.ts';
import { renderOtherServers } from '../meta/kubeconfig-servers.ts';

export const kubeconfigPath = (directory: string): string => join(directory, 'kubeconfig');
const pki = (directory: string): string => join(directory, 'pki');

export const hasJoined = (directory: string): boolean => existsSync(kubeconfigPath(directory));

export type Identity = {
  readonly servers: readonly [string, ...string[]];
  readonly authority: string;
  readonly client: KeyPair;
};

/** Writes the kubeconfig last: if it exists, the other files do. */
export async function writeIdentity(directory: string, identity: Identity): Promise<void> {
  await makePki(directory);
  await writePrivateFile(join(pki(directory), 'ca.crt'), identity.authority);
  await writePair(directory, 'client', identity.client);
  await writePrivateFile(kubeconfigPath(directory), kubeconfigText(identity.servers));
}

async function makePki(directory: string): Promise<void> {
  await mkdir(pki(directory), { recursive: true, mode: 0o700 });
  await chmod(pki(directory), 0o700);
}

export async function writePair(
  directory: string,
  name: 'client' | 'serving',
  { certificate, privateKey }: KeyPair,
): Promise<void> {
  await makePki(directory);
  await writePrivateFile(join(pki(directory), `${name}.pem`), `${certificate}${privateKey}`);
}

/** Undefined if the file is missing or incomplete. */
export async function readPair(
  directory: string,
  name: 'client' | 'serving',
): Promise<KeyPair | undefined> {
  const text = await readPrivateFile(join(pki(directory), `${name}.pem`));
  const [certificate] =
    /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/.exec(text ?? '') ?? [];
  const [privateKey] =
    /-----BEGIN PRIVATE KEY-----[^-]+-----END PRIVATE KEY-----\n?/.exec(text ?? '') ?? [];
  return certificate === undefined || privateKey === undefined
    ? undefined
    : { certificate, privateKey };
}

/** Paths are relative to the kubeconfig, so the directory can be moved. */
function kubeconfigText([server, ...others]: Identity['servers']): string {
  return [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    '- cluster:',
    '    certificate-authority: pki/ca.crt',
    ...renderOtherServers(others),
    `    server: ${server}`,
    '  name: fairlead',
    'contexts:',
    '- context:',
    '    cluster: fairlead',
    '    user: node',
    '  name: fairlead',
    'current-context: fairlead',
    'users:',
    '- name: node',
    '  user:',
    '    client-certificate: pki/client.pem',
    '    client-key: pki/client.pem',
    '',
  ].join('\n');
}
