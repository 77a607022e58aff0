import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readSettings, schedulers } from './settings.ts';

describe('readSettings()', () => {
  it('leaves everything to the kernel and schedules in turn when nothing is said (IVS-03, IVS-13)', () => {
    assert.deepEqual(readSettings({}), {
      scheduler: 'rr',
      excludeCIDRs: [],
      isStrictARP: false,
      tcpTimeoutSeconds: 0,
      tcpFinTimeoutSeconds: 0,
      udpTimeoutSeconds: 0,
    });
  });

  it('takes every scheduler of the kernel (IVS-03)', () => {
    for (const scheduler of schedulers) {
      assert.equal(readSettings({ 'ipvs-scheduler': scheduler }).scheduler, scheduler);
    }
  });

  it('reads times as whole seconds (IVS-13)', () => {
    const { tcpTimeoutSeconds, tcpFinTimeoutSeconds, udpTimeoutSeconds } = readSettings({
      'ipvs-tcp-timeout': '15m',
      'ipvs-tcpfin-timeout': '1m30s',
      'ipvs-udp-timeout': '200ms',
    });
    assert.deepEqual([tcpTimeoutSeconds, tcpFinTimeoutSeconds, udpTimeoutSeconds], [900, 90, 1]);
  });

  it('reads ranges (IVS-10)', () => {
    const { excludeCIDRs } = readSettings({ 'ipvs-exclude-cidrs': '10.9.0.0/16, fd09::/16' });
    assert.deepEqual(
      excludeCIDRs.map(({ family, prefix }) => `${family}/${prefix}`),
      ['IPv4/16', 'IPv6/16'],
    );
  });

  const wrong: readonly [string, string, RegExp][] = [
    ['ipvs-scheduler', 'random', /--ipvs-scheduler "random" must be one of rr, wrr, /],
    ['ipvs-exclude-cidrs', '10.0.0.0/8,here', /--ipvs-exclude-cidrs "here" must be a network/],
    ['ipvs-tcp-timeout', 'soon', /--ipvs-tcp-timeout "soon" must be a time/],
  ];
  for (const [flag, value, message] of wrong) {
    it(`refuses ${flag} "${value}" with words`, () => {
      assert.throws(() => readSettings({ [flag]: value }), { name: 'RangeError', message });
    });
  }
});
