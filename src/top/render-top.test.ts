import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isPrintable } from '../meta/printable.ts';
import { type RenderOptions, renderService, renderServices } from './render-top.ts';
import type { EndpointTraffic, ServiceTraffic, Skew, TopServices } from './top-services.ts';

const plain = (text: string): string => text;
const paint = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain, cyan: plain };
const screen: RenderOptions = { paint, isVerbose: false, columns: 80, rows: 24 };
const coloured = (text: string): string => `\u001b[33m${text}\u001b[39m`;

const even: Skew = { verdict: 'even', causes: [], sentence: 'even' };
const rates = {
  ...{ openConnections: 1234, unansweredConnections: 0, newPerSecond: 0.5 },
  ...{ bytesInPerSecond: 999, bytesOutPerSecond: 12_345_678 },
};

function endpoint(at: number): EndpointTraffic {
  const share = { even: 0.1, expected: 0.1, observed: 0.104, low: 0.05, high: 0.2 };
  return { address: `10.244.1.${at}`, port: 80, ...rates, isUsed: true, share, pod: `web-${at}` };
}

function service(name: string, skew = even, count = 2): ServiceTraffic {
  const endpoints = Array.from({ length: count }, (_, at) => endpoint(at));
  const port = { portName: 'http', family: 'IPv4', protocol: 'TCP', port: 80 } as const;
  return {
    ...{ namespace: 'default', name, ...rates, usableEndpoints: count, skew },
    ports: [{ ...port, ...rates, usableEndpoints: count, skew, endpoints }],
  };
}

const top = (...services: readonly ServiceTraffic[]): TopServices => ({
  ...{ apiVersion: 'fairlead.dev/v1', kind: 'ServiceTraffic', time: '', unread: [], services },
  nodes: [
    {
      node: 'n1',
      mode: 'nftables',
      intervalMilliseconds: 2000,
      ageMilliseconds: 0,
      bytesCounted: 'no',
    },
    { node: 'n2', reason: 'no answer' },
  ],
});

const linesOf = (text: string): readonly string[] => text.trimEnd().split('\n');

describe('renderServices()', () => {
  it('aligns numbers, and says what is missing', () => {
    assert.deepEqual(linesOf(renderServices(top(service('web')), { ...screen, columns: 200 })), [
      'NAMESPACE  SERVICE  ENDPOINTS  OPEN  NEW/S   IN/S    OUT/S  SKEW',
      'default    web              2  1234    0.5  999 B  12.3 MB  even',
      'measured on 1 of 2 nodes for 2.0 s',
      'nothing is known of node n2: no answer',
      'bytes are not counted on node n1; for new connections, "sysctl -w net.netfilter.nf_conntrack_acct=1" on the node switches that on',
    ]);
  });
  it('fits on a screen, whatever there is and however it is coloured', () => {
    const many = Array.from({ length: 500 }, (_, at) => service(`web-${at}-${'x'.repeat(60)}`));
    for (const rows of [3, 10, 24]) {
      const style = { ...paint, yellow: coloured, bold: coloured };
      const lines = linesOf(renderServices(top(...many), { ...screen, rows, paint: style }));
      assert.ok(lines.length < rows, `${lines.length} of ${rows}`);
      for (const line of lines) assert.ok(line.replaceAll(/\p{Cc}\[\d+m/gu, '').length <= 80);
    }
    const all = linesOf(renderServices(top(...many), { ...screen, isVerbose: true }));
    assert.ok(all.length > 500);
  });
  it('writes out what a terminal would obey', () => {
    const evil = service('web\u001b[2J');
    const answer = top({
      ...evil,
      skew: { ...even, verdict: 'unknown', sentence: 'a\rb\u001b[2J' },
    });
    const reason = { node: 'n3', reason: '\u001b]0;title\u0007' };
    const text = renderServices({ ...answer, nodes: [reason] }, screen);
    assert.ok(isPrintable(text), JSON.stringify(text));
  });
});

describe('renderService()', () => {
  it('shows shares with their bounds, and causes', () => {
    const skew: Skew = {
      ...{ verdict: 'skewed', of: 'connections', factor: 2, endpoint: '10.244.1.0:80' },
      causes: [{ code: 'affinity', evidence: 'one client' }],
      sentence: 'pod web-0 has 2 times its even share',
    };
    const lines = linesOf(renderService(top(service('web', skew)), { ...screen, columns: 200 }));
    assert.match(lines[0] ?? '', /^port http 80\/TCP, IPv4 {2}1234 open, 0\.5 new\/s, 999 B\/s in/);
    assert.match(
      lines[2] ?? '',
      /^10\.244\.1\.0:80 {2}web-0 {2}1234 {7}10% {7}10% {2}\(5\.0% to 20%\) .* -$/,
    );
    assert.deepEqual(lines.slice(4, 6), [`skew: ${skew.sentence}`, '  affinity: one client']);
  });
  it('fits on a screen with a thousand endpoints', () => {
    const lines = linesOf(renderService(top(service('web', even, 1000)), screen));
    assert.ok(lines.length < screen.rows);
    assert.ok(lines.some((line) => /^and \d+ more; -v shows all$/.test(line)));
  });
  it('continues sentences in the next line, and cuts tables', () => {
    const evidence =
      'session affinity keeps all connections of one client where the first one went';
    const skew: Skew = { ...even, verdict: 'skewed', causes: [{ code: 'affinity', evidence }] };
    const lines = linesOf(renderService(top(service('web', skew)), { ...screen, columns: 40 }));
    assert.deepEqual(lines.slice(5, 8), [
      '  affinity: session affinity keeps all',
      '    connections of one client where the',
      '    first one went',
    ]);
    assert.ok(lines.every((line) => line.length <= 40));
  });
});
