import type { ModeDescription } from '../mode.ts';
import { readSettings } from './settings.ts';

export const description: ModeDescription = {
  name: 'userspace',
  flags: [
    {
      name: 'proxy-port-range',
      value: '<range>',
      help: 'ports for relays (default: any free one)',
    },
    {
      name: 'udp-timeout',
      value: '<time>',
      help: 'how long an idle UDP flow is kept (default: 250ms)',
    },
  ],
  configuration: { sections: ['iptables'] },
  checkSettings: (settings) => void readSettings(settings),
};
