// The flags of `fairlead propagation`.
import type { ClientFlags } from '../../flags/client-flags.ts';

export type PropagationFlags = ClientFlags & {
  readonly watch?: boolean;
  readonly wait?: boolean;
  readonly timeout?: number;
  readonly onlyConnected?: boolean;
  readonly output?: 'json' | 'yaml';
  readonly verbose?: boolean;
};
