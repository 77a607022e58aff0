import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Family } from '../../model/state.ts';
import { kernelSettings } from './kernel-settings.ts';

function lines(family: Family, kernelRelease: string, isStrictARP = false): readonly string[] {
  return kernelSettings(family, { kernelRelease, isStrictARP }).map(
    ({ path, value, isNeeded }) => `${path}=${value}${isNeeded ? ' needed' : ''}`,
  );
}

const usual = [
  'ipv4/vs/conntrack=1 needed',
  'ipv4/vs/expire_nodest_conn=1',
  'ipv4/vs/expire_quiescent_template=1',
];

describe('kernelSettings()', () => {
  it('asks for tracked connections, forwarding, and ends with the endpoint (IVS-05)', () => {
    assert.deepEqual(lines('IPv4', '6.12.1-cloud'), [...usual, 'ipv4/ip_forward=1']);
    assert.deepEqual(lines('IPv6', '6.12.1'), [...usual, 'ipv6/conf/all/forwarding=1']);
  });

  it('turns off the slow reuse of connections on kernels before 5.9 (IVS-05)', () => {
    const has = (release: string): boolean =>
      lines('IPv4', release).includes('ipv4/vs/conn_reuse_mode=0');
    assert.deepEqual(['4.19.0-25', '5.8.18', '5.9.0', '5.10.0-21', '6.1.0'].map(has), [
      ...[true, true, false, false, false],
    ]);
  });

  it('answers ARP strictly only when asked to (IVS-05)', () => {
    assert.deepEqual(lines('IPv4', '6.1.0', true).slice(-2), [
      'ipv4/conf/all/arp_ignore=1',
      'ipv4/conf/all/arp_announce=2',
    ]);
  });
});
