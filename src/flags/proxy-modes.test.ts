// Adding a proxy mode is one line in src/proxy/modes/all.ts: flags, the configuration file, the choice of the mode and metrics
// follow from what the mode declares. The mode of this test is in no list.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import { silentLog } from '../observe/log.ts';
import { createMetrics } from '../observe/metrics.ts';
import { configProblems, makeConfig } from '../proxy/config.ts';
import { createProxyMetrics } from '../proxy/metrics.ts';
import { allModes } from '../proxy/modes/all.ts';
import type { Mode, ModeDescription } from '../proxy/modes/mode.ts';
import { exampleTraits } from '../proxy/packets/example-traits.ts';
import { chooseMode } from '../proxy/run-choose-mode.ts';
import { readProxyFile } from './proxy-config-file.ts';
import { addModeFlags, addProxyFlags, flagSettings, modeFlagSettings } from './proxy-flags.ts';

const description: ModeDescription = {
  name: 'example',
  fallback: 'standby',
  flags: [
    { name: 'example-size', value: '<count>', help: 'how large', isForUp: true },
    { name: 'example-fast', help: 'faster' },
  ],
  hasSyncPeriodFlags: true,
  configuration: {
    sections: ['iptables', 'example'],
    fields: [
      { name: 'size', type: 'text', flag: 'example-size' },
      { name: 'isFast', type: 'boolean', flag: 'example-fast' },
      { name: 'ranges', type: 'list', flag: 'example-ranges' },
    ],
  },
  metrics: { syncFailures: { name: 'example_failures_total', help: 'Failures.' } },
  checkSettings: ({ 'example-size': size = '1' }) => {
    if (!/^\d+$/.test(size)) throw new RangeError(`--example-size "${size}" is not a number`);
  },
};
const modes = [...allModes, description];

test('addProxyFlags() has the flags of each mode, and flagSettings() reads them', () => {
  const command = addProxyFlags(new Command('proxy').exitOverride(), modes);
  assert.match(command.helpInformation(), /iptables, ipvs, userspace or example \(default/);
  assert.match(command.helpInformation(), /--example-size <count> +example: how large/);
  const flags = [
    ...['--proxy-mode', 'example', '--example-size', '3', '--example-fast'],
    ...['--example-sync-period', '9s', '--ipvs-sync-period', '7s'],
  ];
  assert.deepEqual(flagSettings(command.parse(flags, { from: 'user' }).opts(), modes), {
    ...{ mode: 'example', syncPeriodMs: 9000, conntrack: {} },
    modeSettings: { 'example-size': '3', 'example-fast': 'true' },
  });
});

test('addModeFlags() has those flags of a mode that are for `up`', () => {
  const command = addModeFlags(new Command('up').exitOverride(), modes);
  assert.doesNotMatch(command.helpInformation(), /example-fast/);
  const flags = command.parse(['--example-size', '3'], { from: 'user' }).opts();
  assert.deepEqual(modeFlagSettings(flags, modes), { modeSettings: { 'example-size': '3' } });
});

test('readProxyFile() reads the sections and fields of a mode', () => {
  const text = `
kind: KubeProxyConfiguration
apiVersion: kubeproxy.config.k8s.io/v1alpha1
mode: example
iptables: { masqueradeAll: true, syncPeriod: 5s }
example: { syncPeriod: 9s, size: "x", isFast: true, ranges: [a, b], color: red }
`;
  const { settings, ignored } = readProxyFile(text, modes);
  const { masqueradeAll, syncPeriodMs, modeSettings } = settings;
  assert.deepEqual([masqueradeAll, syncPeriodMs], [true, 9000]);
  assert.deepEqual(modeSettings, {
    ...{ 'example-size': 'x', 'example-fast': 'true', 'example-ranges': 'a,b' },
  });
  assert.deepEqual(ignored, ['example.color']);
  assert.deepEqual(configProblems(makeConfig(settings), modes), [
    '--example-size "x" is not a number',
  ]);
});

test('chooseMode() takes the fallback of a mode that does not work', async () => {
  const mode = (of: ModeDescription, works: boolean): Mode => ({
    ...of,
    probe: async () =>
      works ? { works, detail: 'fine' } : { works, reason: 'no kernel', remedy: 'get one' },
    start: () => Promise.reject(new Error('only chosen')),
    cleanup: () => Promise.resolve(),
    tracePacket: () => () => ({ kind: 'pass' }),
    traits: exampleTraits,
  });
  const standby = mode({ name: 'standby', configuration: { sections: [] } }, true);
  const config = { mode: 'example', nodePortAddresses: [] };
  const chosen = await chooseMode([standby, mode(description, false)], config, silentLog);
  assert.deepEqual([chosen.mode.name, chosen.insteadOf?.mode], ['standby', 'example']);
});

test('createProxyMetrics() registers the metrics of all modes, and counts those of the one in use', () => {
  const registry = createMetrics();
  createProxyMetrics(registry, { modes, mode: description }).ofMode.syncFailures?.add();
  const text = registry.text();
  assert.match(text, /^kubeproxy_example_failures_total 1$/m);
  assert.match(text, /^# TYPE kubeproxy_sync_proxy_rules_iptables_total gauge$/m);
});
