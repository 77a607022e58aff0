// Tells when npm, which runs a script of package.json, is gone. It passes on SIGINT and SIGTERM, but often to a shell that stands between it
// and the script and does not hand them on; SIGHUP and SIGKILL end npm alone. The script only sees that it has another parent.
import { readFileSync } from 'node:fs';

const everyMs = 250;

/** Calls once. Does nothing where no package manager runs the script: who starts it from a shell may leave it in the background. */
export function followParent(gone, env = process.env) {
  if (env.npm_lifecycle_event === undefined) return;
  const before = lineage();
  const timer = setInterval(() => {
    if (lineage() === before) return;
    clearInterval(timer);
    gone();
  }, everyMs);
  timer.unref();
}

/** The parent, and where that is a shell, its parent too. Where there is no /proc, the parent alone. */
function lineage() {
  const parent = process.ppid;
  try {
    const stat = readFileSync(`/proc/${parent}/stat`, 'utf8');
    const end = stat.lastIndexOf(')');
    const isShell = /^(ba|da|a|k|z)?sh$/.test(stat.slice(stat.indexOf('(') + 1, end));
    return isShell ? `${parent} ${stat.slice(end + 2).split(' ')[1]}` : `${parent}`;
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES'].includes(error.code)) return `${parent}`;
    throw error;
  }
}
