// The flags that say who is let in and what admission asks for.
import { join, resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { allAdmissionPlugins, type PluginChoice } from '../apiserver/admission/all.ts';
import { defaultIssuer, type TokenOptions } from '../apiserver/tokens/create-tokens.ts';
import { ensureSigningKey } from '../apiserver/tokens/signing-key.ts';

export type AccessFlags = {
  readonly tokenAuthFile?: string;
  readonly serviceAccountIssuer: string;
  readonly apiAudiences?: readonly string[];
  readonly enableAdmissionPlugins: readonly string[];
  readonly disableAdmissionPlugins: readonly string[];
};

export function addAccessFlags(command: Command): Command {
  const known = allAdmissionPlugins.map(({ name }) => name);
  const off = allAdmissionPlugins.filter((plugin) => !plugin.onByDefault).map(({ name }) => name);
  return command
    .option(
      '--token-auth-file <file>',
      'bearer tokens that are good here, one `token,user,uid,"group1,group2"` a line; read again when it changes',
    )
    .option(
      '--service-account-issuer <url>',
      'what tokens of service accounts name as their issuer',
      issuer,
      defaultIssuer,
    )
    .option(
      '--api-audiences <names>',
      'whom tokens must be for to be good here (default: the issuer)',
      list,
    )
    .option(
      '--enable-admission-plugins <names>',
      `admission plugins besides the usual ones: ${off.join(', ')}`,
      plugins(known),
      [],
    )
    .option(
      '--disable-admission-plugins <names>',
      'admission plugins to leave out',
      plugins(known),
      [],
    );
}

export type AccessOptions = {
  readonly tokens: TokenOptions;
  readonly admissionPlugins: PluginChoice;
};

export async function accessOptions(
  flags: AccessFlags,
  { dataDir, cwd }: { readonly dataDir: string; readonly cwd: string },
): Promise<AccessOptions> {
  const { tokenAuthFile, apiAudiences } = flags;
  return {
    tokens: {
      signingKey: await ensureSigningKey(join(dataDir, 'pki')),
      issuer: flags.serviceAccountIssuer,
      ...(apiAudiences === undefined ? {} : { audiences: apiAudiences }),
      ...(tokenAuthFile === undefined ? {} : { file: resolve(cwd, tokenAuthFile) }),
    },
    admissionPlugins: {
      enable: flags.enableAdmissionPlugins,
      disable: flags.disableAdmissionPlugins,
    },
  };
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
