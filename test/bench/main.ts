// `npm run bench [ROW...] [--json] [--write]`: measures the real binary and prints one table.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { abuseRow } from './abuse-row.ts';
import { commitOf } from './commit.ts';
import { dnsRow } from './dns-row.ts';
import { endpointLatencyRow } from './endpoint-latency-row.ts';
import { etcdRow } from './etcd-row.ts';
import { explainRow } from './explain-row.ts';
import { failoverRow } from './failover-row.ts';
import type { Figure } from './figure.ts';
import { hostileRow } from './hostile-row.ts';
import { imagesRow } from './images-row.ts';
import { listRow } from './list-row.ts';
import { memoryRow } from './memory-row.ts';
import { nodesRow } from './nodes-row.ts';
import { proxyRow } from './proxy-row.ts';
import { readyRow } from './ready-row.ts';
import { relayRow } from './relay-row.ts';
import { renderTable } from './render.ts';
import { renderPage } from './render-page.ts';
import { createsRow, getsRow, patchesRow } from './request-rows.ts';
import { rolloverRow } from './rollover-row.ts';
import type { Row } from './row.ts';
import { rulesRow } from './rules-row.ts';
import { settleRow } from './settle-row.ts';
import { startRow } from './start-row.ts';
import { upRow } from './up-row.ts';
import { watchRow } from './watch-row.ts';

const rows: Readonly<Record<string, Row>> = {
  start: startRow,
  memory: memoryRow,
  creates: createsRow,
  patches: patchesRow,
  gets: getsRow,
  list: listRow,
  etcd: etcdRow,
  watch: watchRow,
  nodes: nodesRow,
  abuse: abuseRow,
  hostile: hostileRow,
  endpoints: endpointLatencyRow,
  rollover: rolloverRow,
  settle: settleRow,
  ready: readyRow,
  proxy: proxyRow,
  relay: relayRow,
  rules: rulesRow,
  dns: dnsRow,
  up: upRow,
  images: imagesRow,
  failover: failoverRow,
  explain: explainRow,
};

const root = fileURLToPath(new URL('../../../', import.meta.url));

await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: { json: { type: 'boolean' }, write: { type: 'boolean' } },
  });
  const unknown = positionals.filter((name) => !(name in rows));
  if (unknown.length > 0) {
    process.stderr.write(
      `Unknown row ${unknown.join(', ')}; there are ${Object.keys(rows).join(', ')}.\n`,
    );
    process.exitCode = 2;
    return;
  }
  const [busyBefore = 0] = loadavg();
  const figures = await measure(positionals);
  const page = { figures, date: new Date(), commit: commitOf(root), cpu: cpus(), busyBefore };
  process.stdout.write(
    values.json ? `${JSON.stringify(page, undefined, 2)}\n` : `${renderTable(figures)}\n`,
  );
  // A page with a row that failed would hide it.
  if (!values.write || process.exitCode !== undefined) return;
  const path = join(root, 'docs', 'benchmarks.md');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, renderPage(page));
}

async function measure(wanted: readonly string[]): Promise<readonly Figure[]> {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-bench-'));
  const figures: Figure[] = [];
  try {
    for (const [name, row] of Object.entries(rows)) {
      if (wanted.length > 0 && !wanted.includes(name)) continue;
      process.stderr.write(`${name}...\n`);
      const own = join(directory, name);
      mkdirSync(own);
      try {
        figures.push(...(await row({ directory: own })));
      } catch (error) {
        // What the others took minutes to measure is not lost.
        process.stderr.write(`${name} failed: ${(error as Error).stack ?? String(error)}\n`);
        process.exitCode = 1;
      }
    }
    return figures;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
