// The policy of a namespace, from its labels. Kubernetes: pod-security-admission/api.
import { type FieldError, invalid } from '../../../meta/field-error.ts';

const levels = ['privileged', 'baseline', 'restricted'] as const;
export type Level = (typeof levels)[number];

/** A minor version of Kubernetes 1, or the latest. */
export type Version = 'latest' | number;

export type LevelVersion = { readonly level: Level; readonly version: Version };

export const modes = ['enforce', 'audit', 'warn'] as const;
export type Mode = (typeof modes)[number];

export type Policy = Readonly<Record<Mode, LevelVersion>>;

export const privileged: LevelVersion = { level: 'privileged', version: 'latest' };
export const privilegedPolicy: Policy = {
  enforce: privileged,
  audit: privileged,
  warn: privileged,
};

type Labels = Readonly<Record<string, string>>;

export const levelLabel = (mode: Mode): string => `pod-security.kubernetes.io/${mode}`;
export const versionLabel = (mode: Mode): string => `${levelLabel(mode)}-version`;

export type ParsedPolicy = { readonly policy: Policy; readonly errors: readonly FieldError[] };

/** An invalid level is `restricted` for enforce, and `privileged` for audit and warn. */
export function policyOf(labels: Labels | undefined, defaults: Policy): ParsedPolicy {
  if (labels === undefined) return { policy: defaults, errors: [] };
  const errors: FieldError[] = [];
  const read = (mode: Mode): LevelVersion => {
    const level = labels[levelLabel(mode)];
    const version = labels[versionLabel(mode)];
    const parsedLevel = level === undefined ? defaults[mode].level : parseLevel(level);
    if (level !== undefined && parsedLevel === undefined)
      errors.push(invalidLabel(levelLabel(mode), level, wrongLevel));
    const parsedVersion = version === undefined ? defaults[mode].version : parseVersion(version);
    if (version !== undefined && parsedVersion === undefined)
      errors.push(invalidLabel(versionLabel(mode), version, wrongVersion));
    return {
      level: parsedLevel ?? (mode === 'enforce' ? 'restricted' : 'privileged'),
      version: parsedVersion ?? 'latest',
    };
  };
  const enforce = read('enforce');
  const audit = read('audit');
  const warn = read('warn');
  return { policy: { enforce, audit, warn: warnOf(labels, enforce, warn) }, errors };
}

/** An enforced level also warns, unless the namespace has a label for warn. */
function warnOf(labels: Labels, enforce: LevelVersion, warn: LevelVersion): LevelVersion {
  const isExplicit = parseLevel(labels[levelLabel('enforce')] ?? '') !== undefined;
  if (labels[levelLabel('warn')] !== undefined || !isExplicit) return warn;
  if (compareLevels(enforce.level, warn.level) <= 0) return warn;
  const hasVersion = labels[versionLabel('warn')] !== undefined;
  return { level: enforce.level, version: hasVersion ? warn.version : enforce.version };
}

const invalidLabel = (label: string, value: string, detail: string): FieldError =>
  invalid(`metadata.labels[${label}]`, value, detail);

export const wrongLevel = `must be one of ${levels.join(', ')}`;
export const wrongVersion = 'must be "latest" or "v1.x"';

export const parseLevel = (text: string): Level | undefined =>
  levels.find((level) => level === text);

/** Label values have 63 characters at most; files are not held to that. */
const maxVersionLength = 63;

export function parseVersion(text: string): Version | undefined {
  if (text === 'latest') return 'latest';
  if (text.length > maxVersionLength) return undefined;
  const [, minor] = /^v1\.(0|[1-9][0-9]*)$/.exec(text) ?? [];
  return minor === undefined ? undefined : Number(minor);
}

/** Positive when the first asks for more. */
export const compareLevels = (a: Level, b: Level): number => levels.indexOf(a) - levels.indexOf(b);

const versionText = (version: Version): string =>
  version === 'latest' ? 'latest' : `v1.${version}`;

export const policyText = ({ level, version }: LevelVersion): string =>
  `${level}:${versionText(version)}`;

export const isSame = (a: LevelVersion, b: LevelVersion): boolean =>
  a.level === b.level && a.version === b.version;

export const isPrivileged = (policy: Policy): boolean =>
  modes.every((mode) => policy[mode].level === 'privileged');
