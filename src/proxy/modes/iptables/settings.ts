// The flags of this mode, read.

export type ModeSettings = {
  readonly answersOnLoopback: boolean;
  /** Which of the two kernel interfaces; absent: the one that the `iptables` of this machine uses. */
  readonly variant?: Variant;
  /** Network namespace to work in; absent: this process' own. */
  readonly namespacePath?: string;
};

export type Variant = 'nft' | 'legacy';

/** By flag name; upstream's where upstream has one. Throws RangeError with what is wrong and what would be right. */
export function readSettings(settings: Readonly<Record<string, string>>): ModeSettings {
  const variant = settings['iptables-variant'];
  const namespacePath = settings['network-namespace'];
  if (variant !== undefined && variant !== 'nft' && variant !== 'legacy') {
    throw new RangeError(`--iptables-variant "${variant}" must be "nft" or "legacy"`);
  }
  const onLoopback = settings['iptables-localhost-nodeports'];
  if (onLoopback !== undefined && onLoopback !== 'true' && onLoopback !== 'false') {
    throw new RangeError(`--iptables-localhost-nodeports "${onLoopback}" must be true or false`);
  }
  return {
    answersOnLoopback: onLoopback !== 'false',
    ...(variant === undefined ? {} : { variant }),
    ...(namespacePath === undefined ? {} : { namespacePath }),
  };
}
