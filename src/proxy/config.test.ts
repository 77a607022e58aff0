import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Log } from '../observe/log.ts';
import { silentLog } from '../observe/log.ts';
import { configProblems, defaultConfig, makeConfig, type ProxySettings } from './config.ts';
import { applyKernelSettings } from './conntrack/apply-kernel-settings.ts';
import { conntrackSettings } from './conntrack/conntrack-settings.ts';
import { allModes } from './modes/all.ts';
import type { Mode, ProbeResult } from './modes/mode.ts';
import { exampleTraits } from './packets/example-traits.ts';
import { chooseMode } from './run-choose-mode.ts';

describe('makeConfig()', () => {
  it('is what kube-proxy has when nothing is set (KPX-40, KPX-47, KPX-58)', () => {
    assert.deepEqual(makeConfig(), defaultConfig);
    assert.deepEqual(configProblems(defaultConfig, allModes), []);
  });
  it('lets later layers win, setting by setting', () => {
    const config = makeConfig(
      {
        masqueradeBit: 5,
        healthz: 'none',
        conntrack: { min: 1, maxPerCore: 2 },
        modeSettings: { a: '1', b: '2' },
      },
      { masqueradeAll: true, conntrack: { min: 3 }, modeSettings: { b: '3' } },
    );
    assert.equal(config.masqueradeBit, 5);
    assert.equal(config.masqueradeAll, true);
    assert.equal('healthz' in config, false);
    assert.deepEqual([config.conntrack.min, config.conntrack.maxPerCore], [3, 2]);
    assert.deepEqual(config.modeSettings, { a: '1', b: '3' });
  });
  const bad: readonly (readonly [ProxySettings, RegExp])[] = [
    [{ clusterCIDRs: ['10.244'] }, /cluster CIDR "10\.244"/],
    [{ nodePortAddresses: ['primary', '10.0.0.0/8'] }, /"primary" is neither/],
    [{ nodePortAddresses: ['eth0'] }, /"eth0" is neither/],
    [{ bindAddress: 'here' }, /bind address "here"/],
    [{ detectLocalMode: 'BridgeInterface' }, /--pod-bridge-interface/],
    [{ detectLocalMode: 'InterfaceNamePrefix' }, /--pod-interface-name-prefix/],
    [{ masqueradeBit: 32 }, /from 0 to 31/],
    [{ syncPeriodMs: 0 }, /longer than 0/],
    [{ minSyncPeriodMs: 60_000 }, /must not exceed/],
    [{ modeSettings: { 'ipvs-scheduler': 'random' } }, /--ipvs-scheduler "random" must be one of/],
    [{ modeSettings: { 'udp-timeout': 'soon' } }, /--udp-timeout "soon" must be a time/],
    [
      {
        nodePortAddresses: ['127.0.0.0/8'],
        modeSettings: { 'iptables-localhost-nodeports': 'false' },
      },
      /loopback alone, where --iptables-localhost-nodeports=false/,
    ],
  ];
  for (const [settings, expected] of bad) {
    it(`says what is wrong: ${expected.source}`, () =>
      assert.match(configProblems(makeConfig(settings), allModes).join(), expected));
  }
});

describe('conntrackSettings() (KPX-47)', () => {
  const values = (cores: number, changes = {}) =>
    Object.fromEntries(
      conntrackSettings({ ...defaultConfig.conntrack, ...changes }, cores).map(
        ({ path, value }) => [path.replace('net/netfilter/nf_conntrack_', ''), value],
      ),
    );
  it('grows with the cores, from a minimum on, and leaves UDP alone', () => {
    const timeouts = { tcp_timeout_established: 86_400, tcp_timeout_close_wait: 3600 };
    assert.deepEqual(values(2), { max: 131_072, ...timeouts });
    assert.deepEqual(values(8), { max: 262_144, ...timeouts });
  });
  it('leaves alone what is 0', () => {
    const changes = { maxPerCore: 0, tcpEstablishedTimeoutMs: 0, tcpCloseWaitTimeoutMs: 0 };
    assert.deepEqual(values(2, { ...changes, tcpBeLiberal: true }), { tcp_be_liberal: 1 });
    assert.deepEqual(values(2, { ...changes, accounting: true }), { acct: 1 });
  });
});

describe('applyKernelSettings()', () => {
  it('writes what differs, never lowers a limit, and goes on where it may not', async () => {
    const root = await mkdtemp(join(tmpdir(), 'fairlead-sysctl-'));
    const warnings: unknown[] = [];
    const log: Log = { ...silentLog, warn: (_, fields) => warnings.push(fields?.setting) };
    try {
      await mkdir(join(root, 'net'));
      await writeFile(join(root, 'net/a'), '10\n');
      await writeFile(join(root, 'net/b'), '10\n');
      await applyKernelSettings(
        [
          { path: 'net/missing', value: 1, isMinimum: false },
          { path: 'net/a', value: 5, isMinimum: true },
          { path: 'net/b', value: 5, isMinimum: false },
        ],
        log,
        root,
      );
      assert.equal(await readFile(join(root, 'net/a'), 'utf8'), '10\n');
      assert.equal(await readFile(join(root, 'net/b'), 'utf8'), '5\n');
      assert.deepEqual(warnings, ['net.missing']);
    } finally {
      await rm(root, { recursive: true });
    }
  });
});

describe('chooseMode()', () => {
  const works: ProbeResult = { works: true, detail: 'fine' };
  const fails = (reason: string): ProbeResult => ({ works: false, reason, remedy: 'grant it' });
  const mode = (name: string, IPv4: ProbeResult, IPv6: ProbeResult = IPv4): Mode => ({
    name,
    configuration: { sections: [] },
    probe: async (family) => (family === 'IPv4' ? IPv4 : IPv6),
    start: () => Promise.reject(new Error('not here')),
    cleanup: () => Promise.resolve(),
    tracePacket: () => () => ({ kind: 'pass' }),
    traits: exampleTraits,
  });
  const choose = async (
    modes: readonly Mode[],
    requested?: string,
    nodePortAddresses: readonly string[] = [],
  ): Promise<string> => {
    const config = { nodePortAddresses, ...(requested === undefined ? {} : { mode: requested }) };
    const { mode, families, insteadOf } = await chooseMode(modes, config, silentLog);
    const fallback =
      insteadOf === undefined ? '' : ` instead of ${insteadOf.mode}: ${insteadOf.reason}`;
    return `${mode.name} ${families.join(' ')}${fallback}`;
  };
  it('takes the first that works when none is requested (KPX-49)', async () => {
    const modes = [mode('nftables', fails('too old')), mode('iptables', works)];
    assert.equal(await choose(modes), 'iptables IPv4 IPv6');
  });
  it('skips a family that the machine does not have (KPX-51)', async () => {
    assert.equal(await choose([mode('nftables', works, fails('no IPv6'))]), 'nftables IPv4');
  });
  it('takes the requested mode or none, and says what to grant', async () => {
    const modes = [mode('nftables', fails('no right')), mode('iptables', works)];
    await assert.rejects(
      choose(modes, 'nftables'),
      /Cannot start proxy mode "nftables": .*no right; grant it/,
    );
  });
  it('takes iptables for ipvs where the kernel lacks it (IVS-11)', async () => {
    const ipvs = { ...mode('ipvs', fails('no module')), fallback: 'iptables' };
    const modes = [mode('iptables', works), ipvs];
    const chosen = await choose(modes, 'ipvs');
    assert.equal(chosen, 'iptables IPv4 IPv6 instead of ipvs: no module; grant it');
  });
  describe('with node ports on the loopback alone', () => {
    const able: Mode = {
      ...mode('iptables', works),
      traits: { ...exampleTraits, nodePortOnLoopback: true },
    };
    const modes = [mode('nftables', works), able];
    it('takes a mode that answers there', async () => {
      assert.equal(await choose(modes, undefined, ['127.0.0.0/8']), 'iptables IPv4 IPv6');
      assert.equal(
        await choose(modes, undefined, ['127.0.0.5/32', '::1/128']),
        'iptables IPv4 IPv6',
      );
    });
    it('refuses a mode that opens nothing, and says which would', async () => {
      await assert.rejects(
        choose(modes, 'nftables', ['127.0.0.0/8']),
        /nftables: it does not answer node ports on the loopback, .* use iptables, or name/,
      );
    });
    it('takes any mode if other addresses are named too', async () => {
      assert.equal(
        await choose(modes, undefined, ['127.0.0.0/8', '10.0.0.0/8']),
        'nftables IPv4 IPv6',
      );
      assert.equal(await choose(modes, undefined, ['0.0.0.0/0']), 'nftables IPv4 IPv6');
    });
  });
  it('lists the modes when an unknown one is requested', async () => {
    await assert.rejects(choose([mode('nftables', works)], 'userspace'), /this build has nftables/);
  });
  it('says all reasons when none works', async () => {
    const modes = [mode('nftables', fails('a')), mode('iptables', fails('b'))];
    await assert.rejects(choose(modes), /nftables: a; grant it;\n {2}iptables: b; grant it/);
  });
});
