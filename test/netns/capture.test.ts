// Addresses that others own, named by Services: real packets reach their owners, unless a flag says otherwise.
import { describe, test } from 'node:test';
import { capturesAll, capturesNothing } from './lab/captured.ts';

describe('Services that name addresses of others as external IPs or in a status (CVE-2020-8554)', () => {
  for (const mode of ['nftables', 'iptables', 'userspace']) {
    test(`capture nothing in ${mode} mode`, () => capturesNothing(mode));
    test(`capture it in ${mode} mode with --allow-foreign-addresses`, () => capturesAll(mode));
  }
});
