// The flags of authentication, admission and certificates.
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { allAdmissionPlugins, type PluginChoice } from '../apiserver/admission/all.ts';
import {
  AdmissionConfigurationError,
  type PluginConfiguration,
  parseAdmissionConfiguration,
} from '../apiserver/admission/configuration.ts';
import type { NodeTrust } from '../apiserver/certificates/node-credentials.ts';
import { maxCertificateMs } from '../apiserver/certificates/signing/sign-request.ts';
import { defaultIssuer, type TokenOptions } from '../apiserver/tokens/create-tokens.ts';
import {
  ensureSigningKey,
  parseSigningKey,
  parseVerificationKey,
  type SigningKey,
  SigningKeyError,
} from '../apiserver/tokens/signing-key.ts';
import { UsageError } from './command.ts';
import { repeated } from './parse-flags.ts';
import { duration } from './parse-values.ts';

export type AccessFlags = {
  readonly tokenAuthFile?: string;
  readonly serviceAccountIssuer: string;
  readonly serviceAccountSigningKeyFile?: string;
  readonly serviceAccountKeyFile?: readonly string[];
  readonly apiAudiences?: readonly string[];
  readonly enableAdmissionPlugins: readonly string[];
  readonly disableAdmissionPlugins: readonly string[];
  readonly admissionControlConfigFile?: string;
  readonly clusterSigningDuration: number;
  readonly kubeletCertificateAuthority?: string;
  readonly kubeletInsecureTls?: true;
};

export function addAccessFlags(command: Command): Command {
  const known = allAdmissionPlugins.map(({ name }) => name);
  const off = allAdmissionPlugins.filter((plugin) => !plugin.onByDefault).map(({ name }) => name);
  return command
    .option(
      '--token-auth-file <file>',
      'CSV file of bearer tokens, one `token,user,uid,"group1,group2"` per line. Reloaded when it changes',
    )
    .option(
      '--service-account-issuer <url>',
      'Issuer (iss claim) of service account tokens',
      issuer,
      defaultIssuer,
    )
    .option(
      '--service-account-signing-key-file <file>',
      'Private key file that signs service account tokens (default: DATA-DIR/pki/sa.key, created if it does not exist)',
    )
    .option(
      '--service-account-key-file <file>',
      'File with a further key that verifies service account tokens, such as the previous signing key. May be repeated',
      repeated,
    )
    .option(
      '--api-audiences <names>',
      'Audiences that the API server accepts in service account tokens, separated by commas (default: the issuer)',
      list,
    )
    .option(
      '--enable-admission-plugins <names>',
      `Admission plugins to enable in addition to the default ones: ${off.join(', ')}`,
      plugins(known),
      [],
    )
    .option(
      '--disable-admission-plugins <names>',
      'Admission plugins to disable',
      plugins(known),
      [],
    )
    .option(
      '--admission-control-config-file <file>',
      'AdmissionConfiguration file (apiserver.config.k8s.io/v1) with the defaults and exemptions of PodSecurity (default: privileged, no exemptions)',
    )
    .addOption(
      new Option(
        '--cluster-signing-duration <time>',
        'Maximum lifetime of certificates issued for CertificateSigningRequests. A request may ask for less',
      )
        .argParser(duration({ minMs: minCertificateMs }))
        .default(maxCertificateMs, '8760h'),
    )
    .option(
      '--kubelet-certificate-authority <file>',
      'CA file that verifies the serving certificates of kubelets, for the address that is called (default: the CA of this cluster, for the node name)',
    )
    .option(
      '--kubelet-insecure-tls',
      'Does not verify the serving certificates of kubelets. For tests only',
    );
}

/** Nodes renew a certificate when most of its lifetime has passed, and renewal takes a moment. */
const minCertificateMs = 10_000;

export type AccessOptions = {
  readonly tokens: TokenOptions;
  readonly admissionPlugins: PluginChoice;
  readonly pluginConfiguration?: PluginConfiguration;
  readonly signingDurationMs: number;
  readonly nodeTrust?: NodeTrust;
};

export async function accessOptions(
  flags: AccessFlags,
  { dataDir, cwd }: { readonly dataDir: string; readonly cwd: string },
): Promise<AccessOptions> {
  const { tokenAuthFile, apiAudiences, serviceAccountKeyFile = [] } = flags;
  const { admissionControlConfigFile } = flags;
  return {
    tokens: {
      signingKey: await signingKey(flags, { dataDir, cwd }),
      verificationKeys: await Promise.all(
        serviceAccountKeyFile.map(async (file) => {
          const path = resolve(cwd, file);
          return parseVerificationKey(await readKey(path), path);
        }),
      ),
      issuer: flags.serviceAccountIssuer,
      ...(apiAudiences === undefined ? {} : { audiences: apiAudiences }),
      ...(tokenAuthFile === undefined ? {} : { file: resolve(cwd, tokenAuthFile) }),
    },
    admissionPlugins: {
      enable: flags.enableAdmissionPlugins,
      disable: flags.disableAdmissionPlugins,
    },
    ...(admissionControlConfigFile === undefined
      ? {}
      : { pluginConfiguration: await readConfiguration(resolve(cwd, admissionControlConfigFile)) }),
    signingDurationMs: flags.clusterSigningDuration,
    ...(await nodeTrust(flags, cwd)),
  };
}

/** Paths in the file are relative to its directory. */
async function readConfiguration(path: string): Promise<PluginConfiguration> {
  const read = async (file: string): Promise<string> => {
    try {
      return await readFile(file, 'utf8');
    } catch (error) {
      throw new UsageError(
        `Cannot read --admission-control-config-file "${file}": ${(error as Error).message}`,
      );
    }
  };
  const text = await read(path);
  try {
    return await parseAdmissionConfiguration(text, path, (other) =>
      read(resolve(dirname(path), other)),
    );
  } catch (error) {
    if (error instanceof AdmissionConfigurationError) throw new UsageError(error.message);
    throw error;
  }
}

async function signingKey(
  { serviceAccountSigningKeyFile: file }: AccessFlags,
  { dataDir, cwd }: { readonly dataDir: string; readonly cwd: string },
): Promise<SigningKey> {
  if (file === undefined) return ensureSigningKey(join(dataDir, 'pki'));
  const path = resolve(cwd, file);
  return parseSigningKey(await readKey(path), path);
}

async function nodeTrust(
  { kubeletCertificateAuthority: file, kubeletInsecureTls }: AccessFlags,
  cwd: string,
): Promise<Pick<AccessOptions, 'nodeTrust'>> {
  if (kubeletInsecureTls !== undefined && file !== undefined) {
    throw new UsageError(
      'Cannot use --kubelet-certificate-authority and --kubelet-insecure-tls together.',
    );
  }
  if (kubeletInsecureTls !== undefined) return { nodeTrust: { kind: 'anybody' } };
  if (file === undefined) return {};
  return { nodeTrust: { kind: 'address', authority: await readAuthority(resolve(cwd, file)) } };
}

/** Rejects a file without a certificate, with which every connection would fail. */
async function readAuthority(path: string): Promise<string> {
  const text = await readKey(path);
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new UsageError(
    `Cannot use --kubelet-certificate-authority "${path}": it holds no certificate in PEM form.`,
  );
}

async function readKey(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new SigningKeyError(`Cannot read "${path}": ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function issuer(text: string): string {
  if (URL.canParse(text) && new URL(text).protocol === 'https:') return text;
  throw new InvalidArgumentError(
    `"${text}" is not an issuer; it must be a URL like ${defaultIssuer}.`,
  );
}

function list(text: string): readonly string[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length > 0) return names;
  throw new InvalidArgumentError('it must be one name, or several with commas between.');
}

function plugins(known: readonly string[]): (text: string) => readonly string[] {
  return (text) => {
    const names = list(text);
    const unknown = names.find((name) => !known.includes(name));
    if (unknown === undefined) return names;
    throw new InvalidArgumentError(
      `"${unknown}" is not an admission plugin; there are ${known.join(', ')}.`,
    );
  };
}
