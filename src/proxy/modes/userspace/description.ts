import type { ModeDescription } from '../mode.ts';
import { readSettings } from './settings.ts';

export const description: ModeDescription = {
  name: 'userspace',
  flags: [
    {
      name: 'proxy-port-range',
      value: '<range>',
      help: 'range of ports for relays (default: any free ports)',
    },
    {
      name: 'udp-timeout',
      value: '<time>',
      help: 'idle timeout of UDP flows (default: 250ms)',
    },
  ],
  configuration: { sections: ['iptables'] },
  checkSettings: (settings) => void readSettings(settings),
};
