// What a JUnit report of Ginkgo says of each spec, and a table of it.

/** Specs that ran, or were skipped by themselves; those that the focus left out are not counted. */
export function readReport(xml) {
  const specs = [];
  for (const chunk of xml.split('<testcase ').slice(1)) {
    const head = chunk.slice(0, chunk.indexOf('>'));
    const name = plainText(/\bname="([^"]*)"/.exec(head)?.[1] ?? '');
    if (!name.startsWith('[It]')) continue;
    const skipped = /<skipped message="([^"]*)"/.exec(chunk)?.[1];
    // Ginkgo writes this for what the focus left out.
    if (skipped === 'skipped') continue;
    const verdict =
      skipped !== undefined || chunk.includes('<skipped')
        ? 'skipped'
        : /<(failure|error)\b/.test(chunk)
          ? 'failed'
          : 'passed';
    specs.push({
      name: name.replace(/^\[It\] /, ''),
      sig: /\[(sig-[\w-]+)\]/.exec(name)?.[1] ?? 'none',
      verdict,
    });
  }
  return specs;
}

const entities = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#34;': '"',
  '&#39;': "'",
  '&apos;': "'",
  '&amp;': '&',
};
const plainText = (text) =>
  text.replace(/&(?:lt|gt|quot|#34|#39|apos|amp);/g, (entity) => entities[entity]);

const verdicts = ['passed', 'failed', 'skipped'];

/** A row for each sig, then the names of what failed, then the line that counts. */
export function summarize(specs) {
  const count = (sig, verdict) =>
    specs.filter((spec) => (sig === undefined || spec.sig === sig) && spec.verdict === verdict)
      .length;
  const sigs = [...new Set(specs.map(({ sig }) => sig))].sort();
  const width = Math.max(3, ...sigs.map(({ length }) => length)) + 2;
  const row = (name, cells) =>
    `${name.padEnd(width)}${cells.map((cell) => String(cell).padStart(9)).join('')}\n`;
  return [
    row('sig', verdicts),
    ...sigs.map((sig) =>
      row(
        sig,
        verdicts.map((verdict) => count(sig, verdict)),
      ),
    ),
    ...specs.filter(({ verdict }) => verdict === 'failed').map(({ name }) => `failed: ${name}\n`),
    `${verdicts.map((verdict) => `${count(undefined, verdict)} ${verdict}`).join(', ')}\n`,
  ].join('');
}
