export type ModeSettings = {
  readonly answersOnLoopback: boolean;
  /** Which of the two kernel interfaces; absent: the one that the `iptables` of this machine uses. */
  readonly variant?: Variant;
  /** Network namespace to work in; absent: that of this process. */
  readonly namespacePath?: string;
};

export const localhostFlag = 'iptables-localhost-nodeports';

export type Variant = 'nft' | 'legacy';

/** Throws RangeError. `iptables-variant` and `network-namespace` are for tests, and no flags. */
export function readSettings(settings: Readonly<Record<string, string>>): ModeSettings {
  const variant = settings['iptables-variant'];
  const namespacePath = settings['network-namespace'];
  if (variant !== undefined && variant !== 'nft' && variant !== 'legacy') {
    throw new RangeError(`--iptables-variant "${variant}" must be "nft" or "legacy"`);
  }
  const onLoopback = settings[localhostFlag];
  if (onLoopback !== undefined && onLoopback !== 'true' && onLoopback !== 'false') {
    throw new RangeError(`--${localhostFlag} "${onLoopback}" must be true or false`);
  }
  return {
    answersOnLoopback: onLoopback !== 'false',
    ...(variant === undefined ? {} : { variant }),
    ...(namespacePath === undefined ? {} : { namespacePath }),
  };
}
