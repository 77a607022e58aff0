// The result as the page that is kept with the documents.
import type { CpuInfo } from 'node:os';
import type { Figure } from './figure.ts';
import { renderTable } from './render.ts';

export type Page = {
  readonly figures: readonly Figure[];
  readonly date: Date;
  readonly commit: string;
  readonly cpu: readonly Pick<CpuInfo, 'model'>[];
  /** How many others wanted a core in the minute before. */
  readonly busyBefore: number;
};

export function renderPage({ figures, date, commit, cpu, busyBefore }: Page): string {
  return `# Benchmarks

Written by \`npm run bench -- --write\` on ${date.toISOString().slice(0, 10)}, commit ${commit}, Node.js ${process.versions.node},
${cpu.length} x ${cpu[0]?.model.trim() ?? 'unknown'}, load average ${busyBefore.toFixed(1)} before the run (0 is a quiet machine). \`npm run bench ROW...\` measures some rows only, \`--json\` prints data.

${renderTable(figures)}

\\* Kubernetes 1.36.4 with etcd 3.5.30, recorded on another day on a machine of the same kind.

How to read it
- The real binary runs; clients are threads of another process on the same machine, over TLS with client
  certificates. Load and server share the cores, so rates depend on what else the machine does.
- CPU each is what the server's process used for one request, all threads; other load moves it less than rates,
  by up to a quarter. For the watch rows it is one event to all watchers; for the start row the whole start.
- The bare server is measured in the same run: Node's own HTTP server with the same TLS settings that answers with
  as many bytes and decides nothing. Writes are appended to a file, which is synced once for all that wait.
  For the start row it is Node.js itself starting and ending.
- Memory is resident memory, five seconds after the work.
- The nodes row: 200 times the informers of a node proxy, each with connections of its own, in one thread of another process; so
  their own work is part of the time that a change takes to reach all.
`;
}
